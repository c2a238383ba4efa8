import pytest
from django.db import transaction

import feed.recipients
from accounts.follows import renew_versions
from accounts.models import Follow, Person
from feed import epochs
from feed.celebrities import deliverable
from feed.models import Post
from feed.recipients import ENTRY_IDS, _Cached, _Joined, recipients_of
from feed.timeline_stores import get_timeline_store
from tests.conftest import befriend, end_friendship, make_people

ENDS = "author_id", "reader_id"


@pytest.fixture(autouse=True)
def known_epoch(db):
    epochs.get_or_begin(get_timeline_store())


def recipients(*author_ids):
    posts = [Post(id=n, author_id=author_id) for n, author_id in enumerate(author_ids)]
    return [sorted(owners.tolist()) for owners in recipients_of(posts)]


def test_each_post_goes_to_its_author_and_their_friends(friends):
    assert recipients(1, 4, 1) == [[1, 2, 3], [4], [1, 2, 3]]


def test_a_whole_batch_is_two_queries(friends, django_assert_num_queries):
    recipients(4)  # reads the epoch and the celebrities

    with django_assert_num_queries(2):
        recipients(1, 2, 3, 4)


def test_friends_with_a_version_are_looked_up_once(friends, django_assert_num_queries):
    renew_versions(Person.objects.all())
    recipients(1, 2, 3)

    with django_assert_num_queries(1):
        assert recipients(1, 2, 3) == [[1, 2, 3]] * 3


def test_friends_without_a_version_are_not_cached(friends):
    recipients(1)
    Follow.objects.filter(author_id=1, reader_id=2).delete()

    assert recipients(1) == [[1, 3]]


def test_a_change_shows_at_once(friends):
    renew_versions(Person.objects.all())
    recipients(1, 4)

    befriend(1, 4)
    assert recipients(1, 4) == [[1, 2, 3, 4], [1, 4]]
    end_friendship(1, 2)
    assert recipients(1, 2, 4) == [[1, 3, 4], [2, 3], [1, 4]]


def test_a_change_that_is_rolled_back_leaves_nothing_behind(friends):
    renew_versions(Person.objects.all())
    with transaction.atomic():
        befriend(1, 4)
        assert recipients(1) == [[1, 2, 3, 4]]
        transaction.set_rollback(True)

    assert recipients(1) == [[1, 2, 3]]


def test_a_change_after_the_version_was_read_is_not_kept_for_the_next_batch(friends, monkeypatch):
    """Another transaction commits between the two look-ups of a batch."""
    renew_versions(Person.objects.all())

    def too_late(*asked, look_up=_Cached._find):
        found = look_up(*asked)
        end_friendship(1, 2)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(_Cached, "_find", too_late)
        assert recipients(1) == [[1, 2, 3]]  # the friends when they were asked for
    assert recipients(1) == [[1, 3]]


def test_the_oldest_are_evicted_beyond_the_limit(friends, monkeypatch):
    monkeypatch.setattr(feed.recipients, "_delivered", memory := _Cached(deliverable, *ENDS))
    monkeypatch.setattr(feed.recipients, "MAX_CACHED_IDS", 7 + 3 * ENTRY_IDS)
    renew_versions(Person.objects.all())

    for author_id in (1, 2, 3, 4):
        recipients(author_id)

    assert sorted(memory._others) == [2, 3, 4]


def test_many_authors_without_friends_are_bounded_too(db, monkeypatch):
    monkeypatch.setattr(feed.recipients, "_delivered", memory := _Cached(deliverable, *ENDS))
    monkeypatch.setattr(feed.recipients, "MAX_CACHED_IDS", 1000)
    make_people(100)
    renew_versions(Person.objects.all())

    for author_id in range(1, 101):
        recipients(author_id)

    assert 10 < len(memory._others) < 30  # one takes as much as some 40 ids
    assert recipients(100) == [[100]]


@pytest.mark.parametrize("length", [1, 2])
def test_truncated_friends_are_read_again(length, friends, monkeypatch):
    """MySQL's group_concat_max_len: of "2,3" is left "2" or "2,"."""
    cut = f"SUBSTR(%(function)s(%(expressions)s), 1, {length})"
    monkeypatch.setattr(_Joined, "template", cut)

    assert recipients(1, 4, 2) == [[1, 2, 3], [4], [1, 2, 3]]

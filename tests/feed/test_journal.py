"""The order of news, written by several processes: here several copies in one."""

import time
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db.models.functions import Now

from accounts.follows import ask
from feed import expiry, follows, journal
from feed.journal import Journal, Position
from feed.models import JournalStep, Post
from tests.conftest import make_people

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def followed(friends):
    found = Journal()
    found.look()
    return found


def deliver(author_id=1, ago_s=0.0):
    """Give a post its receipt, which may commit later than its time says."""
    post = Post.objects.create(author_id=author_id, body="x")
    Post.objects.filter(id=post.id).update(delivered_at=Now() - timedelta(seconds=ago_s))
    return post.id


def news(copy, position):
    return copy.news(copy.row(position))[:, 0].tolist()


def test_each_delivery_and_each_deletion_is_told_once(followed):
    begin = followed.end
    first, second = deliver(), deliver(2)
    followed.look()
    Post.objects.filter(id=first).update(deleted_at=Now())
    followed.look()
    followed.look()

    assert followed.news(followed.row(begin)).tolist() == [[first, 1], [second, 2], [-first, 1]]


def test_a_post_without_receipt_is_not_told(followed):
    Post.objects.create(author_id=1, body="x")
    begin = followed.end
    followed.look()

    assert news(followed, begin) == []


def test_a_receipt_that_commits_late_follows_what_was_told(followed, monkeypatch):
    monkeypatch.setattr(journal, "DEEP_EVERY_S", 0)
    begin = followed.end
    deliver(ago_s=1)
    followed.look()
    told = followed.end
    late = deliver(ago_s=50)
    followed.look()

    assert news(followed, told) == [late]
    assert len(news(followed, begin)) == 2


def test_each_position_goes_on_exactly_behind_its_row(followed):
    begin = followed.end
    ids = [deliver() for _ in range(3)]
    followed.look()
    ids += [deliver() for _ in range(3)]
    followed.look()
    at = followed.row(begin)

    for number, position in enumerate(followed.position(at + number) for number in range(6)):
        assert news(followed, position) == ids[number + 1 :]
        assert Position.parse(str(position)) == position
    assert followed.position(at + 5) == followed.end


def test_processes_that_look_at_the_same_time_write_one_order(followed):
    other = Journal()
    begin = followed.end
    for turn in range(6):
        deliver()
        deliver(2)
        copies = (followed, other) if turn % 2 else (other, followed)
        for each in copies:
            each.look()

    followed.look()
    assert len(news(followed, begin)) == 12
    assert news(followed, begin) == news(other, begin)
    assert followed.end == other.end


def test_a_step_that_another_process_took_is_read_first(followed, monkeypatch):
    """It is written between the look for steps and the look for receipts."""
    other, begin = Journal(), followed.end
    ids = [deliver(), deliver()]
    read = followed._read

    def slow_read():
        goes_on = read()
        other.look()
        return goes_on

    monkeypatch.setattr(followed, "_read", slow_read)
    followed.look()

    assert news(followed, begin) == ids
    assert followed.end == other.end


def test_a_new_process_goes_on_with_what_happened_while_none_ran(followed):
    told = followed.end
    missed = [deliver(), deliver(2)]
    JournalStep.objects.update(written_at=Now() - timedelta(seconds=100))
    Post.objects.update(delivered_at=Now() - timedelta(seconds=90))
    another = Journal()
    another.look()

    assert news(another, told) == missed


@pytest.mark.parametrize(
    "text", ["", "1", "1.2", "1.2.x", "1.2.3.4", "9.9.9", "-1.2.3", "1.²." + "9" * 99]
)
def test_an_unknown_position_is_not_known(text, followed):
    assert followed.row(Position.parse(text)) is None


def test_a_restored_database_knows_no_position_of_after_the_copy(followed):
    copy = list(JournalStep.objects.all())
    deliver()
    followed.look()
    told = followed.end
    JournalStep.objects.all().delete()
    JournalStep.objects.bulk_create(copy)
    Post.objects.all().delete()
    deliver()
    followed.look()

    assert followed.end.step == told.step
    assert followed.row(told) is None


def test_too_many_news_begin_it_anew(followed, monkeypatch):
    monkeypatch.setattr(journal, "MOST_NEWS", 3)
    told = followed.end
    for _ in range(5):
        deliver()
    followed.look()
    followed.look()

    assert followed.row(told) is None
    assert followed.row(followed.end) is not None


def test_old_steps_are_forgotten_and_removed(followed, monkeypatch):
    told = followed.end
    age_s = 2 * journal.KEEP_S + 1
    JournalStep.objects.update(written_at=Now() - timedelta(seconds=age_s))
    later = SimpleNamespace(monotonic=lambda: time.monotonic() + age_s)
    monkeypatch.setattr(journal, "time", later)
    deliver()
    followed.look()
    expiry.remove_expired()

    assert followed.row(told) is None
    assert JournalStep.objects.count() == 1


def test_a_step_is_written_now_and_then_without_news(followed, monkeypatch):
    before = followed.end
    followed.look()
    assert followed.end == before
    monkeypatch.setattr(journal, "BEAT_S", 0)
    followed.look()

    assert followed.end.step == before.step + 1
    assert news(followed, before) == []


@pytest.mark.parametrize("end", [follows.unfriend, follows.block])
def test_the_end_of_a_friendship_waits_for_what_streams_are_sending(end, followed):
    began_at = time.monotonic()
    end(1, 2)

    assert time.monotonic() - began_at >= journal.TRUST_S


def test_without_streams_it_waits_for_nothing(friends, monkeypatch):
    waits = []
    monkeypatch.setattr(time, "sleep", waits.append)
    follows.unfriend(1, 2)

    assert waits == []


def test_a_journal_of_nothing_begins(db):
    make_people(2)
    ask(1, 2)
    found = Journal()
    found.look()

    assert news(found, found.end) == []

"""What stores promise that don't heal: the published ones."""

import pytest

from feed import epochs
from feed.follows import unfriend
from tests.backends import stores_with
from tests.conftest import client_of, whole_timelines
from tests.feed.deliveries import audited, ids, posts_by, whole_feed

CAPACITY = 8


@pytest.fixture(params=stores_with(is_healing=False))
def store(request, settings, redis_url, redis, keep_timelines_at, friends):
    """A store that keeps eight posts per timeline."""
    keep_timelines_at(redis_url, capacity=CAPACITY)
    settings.FEED_TIMELINE_STORE = request.param
    return whole_timelines()


def test_the_newest_are_kept_and_pages_end_with_them(store):
    posts = posts_by(1, 30)
    for start in range(0, 30, 5):
        store.deliver(posts[start : start + 5])

    assert whole_feed(store, 2) == store.members(2) == ids(reversed(posts[-CAPACITY:]))
    assert audited(store).ok


def test_late_and_repeated_posts_replace_no_newer_ones(store):
    posts = posts_by(1, 30)
    store.deliver(posts[20:])

    store.deliver(posts)

    assert whole_feed(store, 2) == ids(reversed(posts[-CAPACITY:]))


def test_a_batch_of_several_portions_is_delivered_whole(store, monkeypatch):
    monkeypatch.setattr("feed.timeline_stores.published.Pipeline.commands_at_once", 4)
    posts = posts_by(1, 5)

    store.deliver(posts)

    assert [whole_feed(store, owner) for owner in (1, 2, 3)] == [ids(reversed(posts))] * 3


def test_what_is_lost_stays_lost_and_the_audit_says_so(store, redis):
    posts = posts_by(1, 3)
    store.deliver(posts[:2])
    redis.delete(store.keys.of(2))

    store.deliver(posts[2:])

    assert whole_feed(store, 2) == ids(posts[2:])
    assert audited(store).missing == 2


def test_nothing_of_a_friendship_that_has_ended_is_whole_feed(store):
    store.deliver([*posts_by(1, 2), *posts_by(3, 1)])

    unfriend(1, 2)

    new = posts_by(3, 1)
    store.deliver(new)
    assert whole_feed(store, 2) == ids(new)


def test_a_new_epoch_begins_with_empty_timelines(store, undelayed):
    store.deliver(posts_by(1, 2))

    epochs.begin(store)

    assert whole_feed(store, 2) == []


@pytest.mark.django_db(transaction=True)
def test_the_status_says_so(store):
    assert client_of(None).get("/statusz").json()["store_is_healing"] is False

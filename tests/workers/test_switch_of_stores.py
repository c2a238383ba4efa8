"""Another store is chosen, during a backlog: no feed is short at any moment."""

from itertools import pairwise

import pytest
from django.core.management import call_command

from feed.delivery import deliver_pending
from feed.epochs import StoreUnusable
from feed.follows import finish_changes, unfriend
from feed.models import FollowChange, Post
from feed.selectors import read_timeline
from feed.services import publish_post
from feed.timeline_stores import get_timeline_store
from tests.conftest import whole_timelines
from tests.feed.deliveries import audited
from workers.models import Chunk

# Each store is switched from and to: SQL, Redis, and between the two.
ROUND = "rowwise ring setbased bulk packed log rowwise".split()


@pytest.fixture(params=pairwise(ROUND), ids="-to-".join)
def stores(request):
    return request.param


@pytest.fixture
def choose(settings, redis, friends, transactional_db, monkeypatch):
    """Set the store of this process."""
    monkeypatch.setattr("feed.epochs.CLOSED_S", 0)

    def to(store):
        settings.FEED_TIMELINE_STORE = store

    return to


@pytest.fixture
def history(stores, choose, settings):
    """Three posts delivered into the old store, and two that wait."""
    settings.FEED_STRATEGY = "outbox"
    choose(stores[0])
    whole_timelines()
    old = publish(3)
    deliver_pending(limit=100)
    return ids(old), ids(publish(2))


def publish(count):
    return [publish_post(author_id=1, body="text").post for _ in range(count)]


def ids(posts):
    return {post.id for post in posts}


def shown(owner_id):
    return set(read_timeline(owner_id=owner_id, before=None, limit=20).posts)


def test_a_process_with_another_store_reads_from_the_database_and_delivers_nothing(
    history, stores, choose
):
    old, waiting = history

    choose(stores[1])
    with pytest.raises(StoreUnusable, match="begin_epoch"):
        deliver_pending(limit=100)

    assert [shown(owner) for owner in (1, 2, 3, 4)] == [old | waiting] * 3 + [set()]
    assert ids(Post.objects.pending()) == waiting
    choose(stores[0])
    assert deliver_pending(limit=100) == 2
    assert audited(get_timeline_store()).ok
    assert audited(get_timeline_store()).left == 0


def test_after_the_command_every_feed_is_whole_and_new_posts_go_into_the_new_store(
    history, stores, choose, redis
):
    old, waiting = history
    choose(stores[1])

    call_command("begin_epoch")
    at_once = [shown(owner) for owner in (1, 2, 3, 4)]
    deliver_pending(limit=100)
    later = ids(publish(2))
    deliver_pending(limit=100)

    assert not list(redis.scan_iter(f"timeline:{stores[0]}:*"))
    assert at_once == [old | waiting] * 3 + [set()]
    assert [shown(owner) for owner in (1, 2, 3, 4)] == [old | waiting | later] * 3 + [set()]
    assert later <= set(get_timeline_store().members(2))
    call_command("rebuild_timelines", "--fast")
    assert set(get_timeline_store().members(2)) == old | waiting | later
    assert (audited(get_timeline_store()).ok, audited(get_timeline_store()).left) == (True, 0)


def test_the_old_store_is_refused_after_the_command_until_it_is_chosen_again(
    history, stores, choose
):
    old, waiting = history
    choose(stores[1])
    call_command("begin_epoch")
    choose(stores[0])

    with pytest.raises(StoreUnusable):
        deliver_pending(limit=100)
    call_command("begin_epoch")
    deliver_pending(limit=100)

    assert [shown(owner) for owner in (1, 2, 3, 4)] == [old | waiting] * 3 + [set()]
    assert audited(get_timeline_store()).ok


GONE = {"packed": {"BACKEND": "feed.timeline_stores.gone.Packed"}}


@pytest.fixture(params=["setting", "code"])
def without(request, choose, settings):
    """Posts in a store that the next release doesn't have; returns what goes back and forth."""
    settings.FEED_STRATEGY = "outbox"
    table = settings.FEED_TIMELINE_STORES
    left = {alias: store for alias, store in table.items() if alias != "packed"}
    tables = {"packed": table, "ring": left if request.param == "setting" else table | GONE}

    def release_with(store):
        settings.FEED_TIMELINE_STORES = tables[store]
        choose(store)

    release_with("packed")
    whole_timelines()
    posts = ids(publish(2))
    deliver_pending(limit=100)
    return release_with, posts


def test_no_change_counts_as_made_in_a_store_that_the_release_does_not_have(without, monkeypatch):
    monkeypatch.setattr("feed.follows.LEFT_BEHIND_S", 0)
    release_with, posts = without
    release_with("ring")

    with pytest.raises(StoreUnusable, match=r"'packed', which isn't there any more.*begin_epoch"):
        unfriend(1, 2)

    assert [shown(owner) for owner in (1, 2, 3)] == [posts, set(), posts]
    release_with("packed")
    finish_changes()
    assert not FollowChange.objects.exists()
    assert [shown(owner) for owner in (1, 2, 3)] == [posts, set(), posts]


def test_the_command_goes_on_from_a_store_that_the_release_does_not_have(without, capsys):
    release_with, posts = without
    release_with("ring")

    call_command("begin_epoch")
    unfriend(1, 2)

    assert "stay in the store 'packed'" in capsys.readouterr().err
    assert [shown(owner) for owner in (1, 2, 3)] == [posts, set(), posts]
    assert audited(get_timeline_store()).ok


@pytest.mark.parametrize("strategy", ["task", "chunked", "outbox_queue"])
def test_messages_sent_before_the_switch_deliver_into_the_new_store(
    strategy, worker, choose, settings
):
    settings.FEED_STRATEGY = strategy
    choose("ring")
    whole_timelines()
    with worker.held():
        posts = publish(3)
        choose("setbased")
        call_command("begin_epoch")
        call_command("rebuild_timelines", "--fast")
    worker.await_receipts()

    assert [set(get_timeline_store().members(owner)) for owner in (1, 2, 3)] == [ids(posts)] * 3
    assert audited(get_timeline_store()).ok


def test_after_a_switch_between_two_chunks_the_new_store_has_the_whole_post(
    worker, choose, settings, monkeypatch
):
    monkeypatch.setattr("workers.chunks.OWNERS_PER_CHUNK", 1)
    settings.FEED_STRATEGY = "chunked"
    choose("ring")
    whole_timelines()
    with worker.held():
        post = publish(1)[0]
    worker.await_receipts()
    Chunk.objects.bulk_create(Chunk(post=post, number=n) for n in (1, 2))
    Post.objects.update(delivered_at=None)

    choose("setbased")
    call_command("begin_epoch")
    worker.send_again()
    worker.await_receipts()

    assert [shown(owner) for owner in (1, 2, 3)] == [{post.id}] * 3
    assert audited(get_timeline_store()).ok

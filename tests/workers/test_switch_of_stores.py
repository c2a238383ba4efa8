"""The store is switched during a backlog, and back."""

from itertools import pairwise

import pytest

from feed.audit import audit
from feed.delivery import deliver, deliver_pending
from feed.models import Post
from feed.selectors import read_timeline
from feed.services import publish_post
from feed.timeline_stores import get_timeline_store
from workers.models import Chunk

# Each store is switched from and to: SQL, Redis, and between the two.
ROUND = ["rowwise", "ring", "setbased", "bulk", "pipeline", "roundtrip", "script", "rowwise"]


@pytest.fixture(params=pairwise(ROUND), ids="-to-".join)
def stores(request):
    return request.param


@pytest.fixture
def switch(settings, redis, friends, transactional_db):
    def to(store):
        settings.FEED_TIMELINE_STORE = store

    return to


@pytest.fixture
def old_and_new(stores, switch, settings):
    """Three posts delivered into the old store, two accepted there and delivered into the new."""
    settings.FEED_STRATEGY = "outbox"
    switch(stores[0])
    old = publish(3)
    deliver_pending(limit=100)
    new = publish(2)
    switch(stores[1])
    deliver_pending(limit=100)
    return old, new


def publish(count):
    return [publish_post(author_id=1, body="text").post for _ in range(count)]


def ids(posts):
    return sorted(post.id for post in posts)


def shown(owner_id):
    return sorted(read_timeline(owner_id=owner_id, before=None, limit=20).posts)


def audited():
    *_, (_, found) = audit(get_timeline_store())
    return found


def missing_only(posts):
    """Return the audit with exactly these posts missing, from three timelines each."""
    return (15, 3 * len(posts), 0, 0)


def counts(found):
    return found.expected, found.missing, found.duplicated, found.unexpected


def test_the_backlog_goes_into_the_new_store_and_gets_its_receipts(old_and_new):
    _, new = old_and_new

    assert [shown(owner) for owner in (1, 2, 3, 4)] == [ids(new)] * 3 + [[]]
    assert not Post.objects.pending().exists()


def test_the_old_store_keeps_its_timelines_and_shows_them_after_switching_back(
    old_and_new, stores, switch
):
    old, new = old_and_new

    switch(stores[0])

    assert [shown(owner) for owner in (1, 2, 3, 4)] == [ids(old)] * 3 + [[]]
    assert counts(audited()) == missing_only(new)


def test_the_audit_of_the_new_store_misses_posts_of_the_old_one(old_and_new):
    old, _ = old_and_new

    found = audited()

    assert counts(found) == missing_only(old)
    assert {post_id for _, post_id in found.examples["missing"]} <= set(ids(old))


def test_redelivering_every_post_completes_either_store(old_and_new, stores, switch):
    receipts = dict(Post.objects.values_list("id", "delivered_at"))

    for store in stores:
        switch(store)
        deliver(list(Post.objects.all()))

        assert audited().ok
    assert dict(Post.objects.values_list("id", "delivered_at")) == receipts


@pytest.mark.parametrize("strategy", ["task", "chunked", "outbox_celery"])
def test_messages_sent_before_the_switch_deliver_into_the_new_store(
    strategy, worker, switch, settings
):
    settings.FEED_STRATEGY = strategy
    switch("ring")
    with worker.held():
        publish(3)
        switch("setbased")
    worker.await_receipts()

    assert counts(audited()) == (9, 0, 0, 0)
    switch("ring")
    assert [get_timeline_store().members(owner) for owner in (1, 2, 3)] == [[]] * 3


def test_after_a_switch_between_two_chunks_the_new_store_has_the_whole_post(
    worker, switch, settings, monkeypatch
):
    monkeypatch.setattr("workers.chunks.OWNERS_PER_CHUNK", 1)
    settings.FEED_STRATEGY = "chunked"
    switch("ring")
    with worker.held():
        post = publish(1)[0]
    worker.await_receipts()
    Chunk.objects.bulk_create(Chunk(post=post, number=n) for n in (1, 2))
    Post.objects.update(delivered_at=None)

    switch("setbased")
    worker.send_again()
    worker.await_receipts()

    assert counts(audited()) == (3, 0, 0, 0)

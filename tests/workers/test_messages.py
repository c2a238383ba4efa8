"""Repeated and late messages, with every strategy that sends messages and every store."""

import pytest

from feed.models import Post
from feed.services import publish_post
from feed.timeline_stores import get_timeline_store
from tests.backends import CELERY_STRATEGIES, SHARED_STORES
from tests.conftest import whole_timelines


@pytest.fixture(params=CELERY_STRATEGIES)
def strategy(request, settings, worker, friends, redis, monkeypatch):
    monkeypatch.setattr("workers.chunks.OWNERS_PER_CHUNK", 2)
    settings.FEED_STRATEGY = request.param
    return request.param


@pytest.fixture(params=SHARED_STORES)
def store(request, settings, strategy):
    settings.FEED_TIMELINE_STORE = request.param
    whole_timelines()
    return get_timeline_store()


def timelines(store):
    return [store.members(owner) for owner in (1, 2, 3, 4)]


def test_a_message_sent_twice_delivers_once(store, worker):
    with worker.held():
        post = publish_post(author_id=1, body="hello").post
        worker.await_message()
        worker.send_again()

    worker.await_receipts()

    assert timelines(store) == [[post.id], [post.id], [post.id], []]


def test_a_message_redelivered_after_the_receipt_changes_nothing(store, worker):
    post = publish_post(author_id=1, body="hello").post
    worker.await_receipts()
    receipt = Post.objects.get().delivered_at

    worker.send_again()
    worker.settle()

    assert timelines(store) == [[post.id], [post.id], [post.id], []]
    assert Post.objects.get().delivered_at == receipt

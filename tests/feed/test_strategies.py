"""Every strategy with every store, through the services, a real broker and a real worker."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection, transaction
from django.db.models.functions import Now

from feed.delivery import deliver_pending
from feed.models import Post
from feed.selectors import read_timeline
from feed.services import delete_post, publish_post
from feed.strategies import get_strategy, strategies
from feed.timeline_stores import get_timeline_store, timeline_stores
from tests.backends import DELIVERING, STORES, here
from tests.conftest import whole_timelines
from tests.feed.deliveries import audited


def fit(strategy, store):
    needs_parts = strategies.classes()[strategy].needs_partial_delivery
    return timeline_stores.classes()[store].accepts_partial_delivery or not needs_parts


PAIRS = [
    (strategy, store) for strategy in DELIVERING for store in here(STORES) if fit(strategy, store)
]


@pytest.fixture(params=PAIRS, ids="-".join)
def pair(request, settings, worker, friends, redis, monkeypatch):
    monkeypatch.setattr("workers.chunks.OWNERS_PER_CHUNK", 2)
    settings.FEED_STRATEGY, settings.FEED_TIMELINE_STORE = request.param
    whole_timelines()
    return request.param


@pytest.fixture
def drain(pair, worker):
    """Wait until the drainer or worker of the strategy has delivered all."""

    def drain():
        while get_strategy().needs_drainer and deliver_pending(limit=100):
            pass
        worker.await_receipts()

    return drain


def bodies(owner_id):
    page = read_timeline(owner_id=owner_id, before=None, limit=20)
    return [json.loads(post)["body"] for post in page.posts.values()]


def test_a_post_deleted_before_its_delivery_never_shows(pair, worker, drain):
    with worker.held():
        post = publish_post(author_id=1, body="hello").post
        waits = get_strategy().needs_queue or pair[0] == "outbox"
        assert Post.objects.pending().exists() == waits
        delete_post(person_id=1, post_id=post.id)

    drain()

    assert [bodies(owner) for owner in (1, 2, 3)] == [[], [], []]


def test_a_post_that_is_rolled_back_leaves_nothing_and_sends_nothing(pair, worker):
    with transaction.atomic():
        publish_post(author_id=1, body="hello")
        transaction.set_rollback(True)
    worker.settle()

    assert worker.sent == {}
    assert not Post.objects.exists()
    assert [get_timeline_store().members(owner) for owner in (1, 2, 3)] == [[], [], []]


def test_posts_published_at_once_all_arrive(drain):
    def publish(number):
        try:
            publish_post(author_id=1 + number % 3, body=str(number))
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as clients:
        list(clients.map(publish, range(8)))
    drain()

    assert sorted(map(int, bodies(2))) == list(range(8))
    found = audited(get_timeline_store())
    assert found.ok, found


class Failing(Exception):
    pass


@pytest.mark.parametrize(("store", "accepted"), [("setbased", False), ("ring", True)])
def test_a_store_that_fails_refuses_the_post_only_where_it_shares_the_transaction(
    store, accepted, settings, transactional_db, friends, redis, monkeypatch
):
    settings.FEED_STRATEGY, settings.FEED_TIMELINE_STORE = "inline", store
    timeline = whole_timelines()

    def fail(posts):
        raise Failing

    with monkeypatch.context() as broken:
        broken.setattr(timeline, "deliver", fail)
        if accepted:
            publish_post(author_id=1, body="hello")
        else:
            with pytest.raises(Failing):
                publish_post(author_id=1, body="hello")

    assert Post.objects.pending().count() == int(accepted)
    assert deliver_pending(limit=100) == 0  # the request may still be running
    Post.objects.update(created_at=Now() - timedelta(minutes=1))
    assert deliver_pending(limit=100) == int(accepted)
    assert bodies(2) == ["hello"] * int(accepted)


@pytest.mark.parametrize("setting", ["FEED_STRATEGY", "FEED_TIMELINE_STORE"])
def test_an_unknown_name_is_refused_with_the_known_ones(setting, settings):
    setattr(settings, setting, "nonsense")

    with pytest.raises(ImproperlyConfigured, match=r"'nonsense'.* one of: .*(inline|setbased)"):
        get_strategy() if setting == "FEED_STRATEGY" else get_timeline_store()

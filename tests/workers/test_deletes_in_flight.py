"""A post is deleted in the middle of its delivery: it never shows, and others are complete."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.cache import caches
from django.db import connection

from config.cache import post_cache
from feed.models import Post
from feed.selectors import read_timeline
from feed.services import delete_post, publish_post
from feed.timeline_stores import get_timeline_store
from tests.backends import QUEUE_STRATEGIES, REDIS_STORES, WRITING_STORES
from tests.conftest import whole_timelines
from tests.feed.deliveries import audited
from tests.parallel import in_a_thread
from tests.sessions import wait_until, waiting

PAIRS = [
    # Inline into a SQL store there is nothing to delete before all is committed.
    *(("inline", store) for store in REDIS_STORES),
    *((strategy, store) for strategy in QUEUE_STRATEGIES for store in WRITING_STORES),
]


class Stall:
    """Pauses each delivery of a store when only the first timeline has the post."""

    def __init__(self, store, patch):
        self.reached, self.go = threading.Event(), threading.Event()
        self._deliver, self._deliver_to = store.deliver, store.deliver_to
        patch.setattr(store, "deliver", self.deliver)
        patch.setattr(store, "deliver_to", self.deliver_to)

    def deliver(self, posts):
        self._begin(posts[0], posts[0].author_id)
        self._deliver(posts)

    def deliver_to(self, post, owner_ids):
        self._begin(post, owner_ids[0])
        self._deliver_to(post, owner_ids)

    def _begin(self, post, owner_id):
        self._deliver_to(post, [owner_id])
        self.reached.set()
        assert self.go.wait(20)


class Deletion:
    """A delete request in its own thread."""

    def __init__(self, pool, post):
        self._updating = threading.Event()
        self.answer = pool.submit(in_a_thread, self._run, post)

    def wait_until_it_waits_or_is_done(self):
        assert self._updating.wait(20)
        wait_until(lambda: self.answer.done() or somebody_waits_for_a_lock())

    def _run(self, post):
        with connection.execute_wrapper(self._note):
            delete_post(person_id=post.author_id, post_id=post.id)

    def _note(self, execute, sql, *args):
        if sql.startswith("UPDATE"):
            self._updating.set()
        return execute(sql, *args)


def somebody_waits_for_a_lock():
    if connection.vendor == "sqlite":
        return True  # a writer does while a delivery holds its transaction
    return bool(waiting())


def bodies(owner_id):
    page = read_timeline(owner_id=owner_id, before=None, limit=20)
    return [json.loads(post)["body"] for post in page.posts.values()]


@pytest.fixture(params=PAIRS, ids="-".join)
def strategy(request, settings, worker, friends, redis, redis_url):
    """A strategy with a real cache, which readers fill during the delivery."""
    settings.CACHES = settings.CACHES | {"posts": post_cache(redis_url)}
    caches["posts"].clear()
    settings.FEED_STRATEGY, settings.FEED_TIMELINE_STORE = request.param
    whole_timelines()
    return request.param[0]


def test_a_post_deleted_in_the_middle_of_its_delivery_never_shows(strategy, worker, monkeypatch):
    publish_post(author_id=1, body="kept")
    worker.await_receipts()
    stall = Stall(get_timeline_store(), monkeypatch)
    with ThreadPoolExecutor(2) as pool:
        publishing = pool.submit(in_a_thread, publish_post, author_id=1, body="gone")
        assert stall.reached.wait(20)
        post = Post.objects.get(body="gone")
        seen = bodies(1)

        deletion = Deletion(pool, post)
        deletion.wait_until_it_waits_or_is_done()
        stall.go.set()
        deletion.answer.result(20)
        publishing.result(20)
    worker.await_receipts()

    assert seen == (["kept"] if get_timeline_store().is_transactional else ["gone", "kept"])
    assert [bodies(owner) for owner in (1, 2, 3, 4)] == [["kept"], ["kept"], ["kept"], []]
    found = audited(get_timeline_store())
    assert (found.ok, found.posts, found.expected) == (True, 2, 3)

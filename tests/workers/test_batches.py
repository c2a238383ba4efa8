"""Batches shrink after errors and are bounded by their deliveries, whoever delivers them."""

import contextlib
import time

import pytest
from django.db import OperationalError

from feed import batches
from feed.delivery import deliver_pending
from feed.models import Post
from tests.conftest import whole_timelines
from workers import tasks
from workers.drainer import Drainer

POSTS = 20


@pytest.fixture
def store(transactional_db, settings, friends):
    settings.FEED_STRATEGY = "outbox"
    return whole_timelines()


@pytest.fixture
def backlog(store):
    """Ids of twenty posts with three deliveries each, oldest first."""
    return [Post.objects.create(author_id=1, body="text").id for _ in range(POSTS)]


@pytest.fixture
def sizes(store, monkeypatch):
    """The numbers of posts that the store was asked to deliver at once."""
    found, deliver = [], type(store).deliver

    def note(store, posts):
        found.append(len(posts))
        deliver(store, posts)

    monkeypatch.setattr(type(store), "deliver", note)
    return found


@pytest.fixture
def slow(sizes, store, monkeypatch):
    """Let batches of more than four posts take longer than a time-out."""
    deliver = type(store).deliver

    def time_out(store, posts):
        deliver(store, posts)
        if len(posts) > 4:
            raise OperationalError("the batch took too long")

    monkeypatch.setattr(type(store), "deliver", time_out)


def try_to(work, *arguments):
    with contextlib.suppress(OperationalError):
        work(*arguments)


def test_a_batch_that_takes_too_long_is_halved_until_it_fits_and_a_success_doubles_it(
    backlog, slow, sizes, store, monkeypatch
):
    for _ in range(3):
        try_to(deliver_pending, 16)
    assert Post.objects.pending().count() == POSTS - 4
    monkeypatch.setattr(type(store), "deliver", lambda self, posts: sizes.append(len(posts)))
    for _ in range(3):
        Post.objects.update(delivered_at=None)
        deliver_pending(16)

    assert sizes == [16, 8, 4, 8, 16, 16]


def test_one_post_is_the_smallest_batch(backlog, sizes, store, monkeypatch):
    def refuse(store, posts):
        sizes.append(len(posts))
        raise OperationalError("away")

    monkeypatch.setattr(type(store), "deliver", refuse)
    for _ in range(4):
        try_to(deliver_pending, 4)

    assert sizes == [4, 2, 1, 1]


def test_a_small_limit_makes_no_later_batch_smaller(backlog, sizes):
    deliver_pending(2)
    deliver_pending(100)

    assert sizes == [2, POSTS - 2]


@pytest.fixture
def bounded(monkeypatch):
    """Let a batch have ten deliveries at most."""
    monkeypatch.setattr(batches, "MOST_DELIVERIES", 10)


def test_a_post_with_more_deliveries_than_that_is_delivered_alone(backlog, sizes, monkeypatch):
    monkeypatch.setattr(batches, "MOST_DELIVERIES", 2)

    deliver_pending(100)

    assert sizes == [1]


def test_celery_delivers_the_rest_in_batches_of_its_own(backlog, bounded, sizes, store):
    tasks.drain()

    assert sizes == [3, 3, 3, 3, 3, 3, 2]
    assert sorted(store.members(2)) == backlog


def test_a_drainer_does_not_linger_after_a_bounded_batch(backlog, bounded, sizes):
    def counting(limit):
        if len(sizes) == 3:
            drainer.stop()
        return deliver_pending(limit)

    drainer, started = Drainer(batch=5, idle_s=0, linger_s=5, work=counting), time.monotonic()
    drainer.run()

    assert sizes == [3, 3, 3, 3]
    assert time.monotonic() - started < 5


def test_friends_are_counted_once_for_many_batches(backlog, store, django_assert_max_num_queries):
    deliver_pending(2)

    with django_assert_max_num_queries(20) as made:
        deliver_pending(2)

    assert not [query for query in made if "COUNT(" in query["sql"]]


def test_a_post_that_fails_in_a_bounded_batch_is_set_aside(backlog, bounded, store, monkeypatch):
    deliver = type(store).deliver

    def fail(store, posts):
        if any(post.id == backlog[4] for post in posts):
            raise ValueError("odd")
        deliver(store, posts)

    monkeypatch.setattr(type(store), "deliver", fail)
    tasks.drain()

    assert list(Post.objects.pending().values_list("id", flat=True)) == [backlog[4]]


def test_a_process_knows_its_best_pace_from_batches_that_are_large_enough(backlog, monkeypatch):
    monkeypatch.setattr(batches, "pace", batches.Pace())
    deliver_pending(POSTS // 2)
    assert batches.pace.per_s is None

    monkeypatch.setattr(batches, "ENOUGH", POSTS // 2 * 3)
    deliver_pending(POSTS // 2)
    assert batches.pace.per_s > 0

"""Both plans find the same posts, the sparse one doesn't go through everybody's, and few run at
once.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Timer

import pytest
from django.db import OperationalError, connection

from feed import due
from feed.due import MOST_AT_ONCE, TooManyTimelinesComputed, due_ids
from feed.timeline_stores import get_timeline_store
from tests.conftest import begin_with, client_of
from tests.feed.deliveries import ids, posts_by
from tests.sessions import wait_until


@pytest.fixture
def sparse(monkeypatch):
    """Let two friends be few of many people."""
    monkeypatch.setattr(due._sizes, "ask", lambda: (100_000, 100_000))


def test_both_plans_return_the_same_pages(friends, sparse, monkeypatch):
    posts = [post for author in (1, 2, 3, 4, 1, 2) for post in posts_by(author, 3)]
    pages = [(before, limit) for before in (None, 5, 9) for limit in (1, 4, 100)]
    few = [due_ids(2, before=before, limit=limit) for before, limit in pages]

    monkeypatch.setattr(due._sizes, "ask", lambda: (4, 100_000))
    due._sizes.forget()
    many = [due_ids(2, before=before, limit=limit) for before, limit in pages]

    assert few == many
    due_to_2 = [post for post in posts if post.author_id != 4]
    assert due_ids(2, limit=100) == ids(reversed(due_to_2))


@pytest.mark.parametrize(
    ("people", "posts", "few"),
    [
        (100_000, 400_000, True),
        (1_999, 400_000, False),
        (2_000, 10**12, False),
    ],
)
def test_the_plan_goes_by_the_share_of_the_friends(
    people, posts, few, friends, sparse, monkeypatch
):
    monkeypatch.setattr(due._sizes, "ask", lambda: (people, posts))

    assert (due._few_authors(1, 100) is not None) == few


def test_the_sparse_plan_uses_the_authors_index(friends, sparse, django_assert_num_queries):
    for author in (1, 2, 3, 4):
        posts_by(author, 50)
    with django_assert_num_queries(2) as made:
        due_ids(2, limit=20)

    with connection.cursor() as cursor:
        explain = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
        cursor.execute(f"{explain} {made[-1]['sql']}")
        plan = str(cursor.fetchall())
    assert "author_id" in plan


@pytest.fixture
def slow(monkeypatch):
    """Let person 1's timeline take until the event is set, and then fail."""
    ended, few_authors = Event(), due._few_authors

    def slow(owner_id, limit):
        if owner_id != 1:
            return few_authors(owner_id, limit)
        ended.wait(30)
        raise OperationalError("the query took too long")

    monkeypatch.setattr(due, "_few_authors", slow)
    yield ended
    ended.set()


@pytest.fixture
def queries(slow):
    """As many slow queries as may run at once."""
    with ThreadPoolExecutor(MOST_AT_ONCE) as pool:
        yield [pool.submit(due_ids, 1, limit=1) for _ in range(MOST_AT_ONCE)]
        slow.set()


def await_no_place():
    wait_until(lambda: not due._places._value)


def test_a_reader_waits_for_a_place_and_is_refused(friends, queries, monkeypatch):
    monkeypatch.setattr(due, "LONGEST_WAIT_S", 0.1)
    await_no_place()
    started = time.monotonic()

    with pytest.raises(TooManyTimelinesComputed):
        due_ids(2, limit=1)

    assert time.monotonic() - started >= 0.1


def test_a_reader_gets_the_place_of_a_query_that_failed(friends, queries, slow):
    (post,) = posts_by(2, 1)
    await_no_place()
    Timer(0.1, slow.set).start()

    assert due_ids(2, limit=1) == [post.id]
    assert {type(query.exception()) for query in queries} == {OperationalError}


def test_a_refused_reader_is_asked_to_come_back(friends, queries, monkeypatch, settings):
    settings.FEED_TIMELINE_STORE = "pull"
    begin_with(get_timeline_store())
    monkeypatch.setattr(due, "LONGEST_WAIT_S", 0.01)
    await_no_place()

    answer = client_of(2).get("/v1/feed/")

    assert (answer.status_code, answer["Retry-After"]) == (503, "1")

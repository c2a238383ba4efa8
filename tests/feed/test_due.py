"""Both plans find the same posts, and the sparse one doesn't go through everybody's."""

import pytest
from django.db import connection

from feed import due
from feed.due import due_ids
from tests.feed.deliveries import ids, posts_by


@pytest.fixture
def sparse(monkeypatch):
    """Let two friends be few of many people."""
    monkeypatch.setattr(due._sizes, "read_at", float("inf"))
    monkeypatch.setattr(due._sizes, "people", 100_000)
    monkeypatch.setattr(due._sizes, "posts", 100_000)


def test_both_plans_return_the_same_pages(friends, sparse, monkeypatch):
    posts = [post for author in (1, 2, 3, 4, 1, 2) for post in posts_by(author, 3)]
    pages = [(before, limit) for before in (None, 5, 9) for limit in (1, 4, 100)]
    few = [due_ids(2, before=before, limit=limit) for before, limit in pages]

    monkeypatch.setattr(due._sizes, "people", 4)
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
    monkeypatch.setattr(due._sizes, "people", people)
    monkeypatch.setattr(due._sizes, "posts", posts)

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

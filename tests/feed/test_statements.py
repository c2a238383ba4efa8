"""A post written by our statement equals one written by Django."""

import pytest
from django.db import connection

from feed.models import Post
from feed.statements import insert_post, set_receipts

FIELDS = {field.attname for field in Post._meta.concrete_fields}


def columns(post):
    return {name: getattr(post, name) for name in FIELDS}


def test_returned_columns_are_not_queried_again(friends, django_assert_num_queries):
    insert_post(1, "first")
    # MySQL has no INSERT … RETURNING: its time is asked for when it is needed.
    queries = 1 if connection.features.can_return_columns_from_insert else 2

    with django_assert_num_queries(queries):
        written = columns(insert_post(2, "hello"))

    assert written == columns(Post.objects.get(author_id=2))
    differing = {"id", "author_id", "body", "created_at"}
    created = columns(Post.objects.create(author_id=3, body="by Django"))
    assert {name for name in FIELDS if written[name] != created[name]} <= differing


@pytest.fixture
def returns_only_the_id(monkeypatch):
    """Make the database behave as MySQL does, without RETURNING."""
    monkeypatch.setattr(connection.features, "can_return_columns_from_insert", False)


def test_created_at_is_queried_if_the_insert_returns_only_the_id(friends, returns_only_the_id):
    post = insert_post(1, "hello")

    assert post.get_deferred_fields() == {"created_at"}
    assert columns(post) == columns(Post.objects.get(id=post.id))


@pytest.mark.parametrize("chosen", [[0, 1, 2], [2, 0], [0, 0, 2], [1]])
def test_only_the_given_posts_get_receipts(friends, chosen):
    ids = [insert_post(1, "hello").id for _ in range(4)]

    count = set_receipts([ids[n] for n in chosen])

    delivered = set(Post.objects.exclude(delivered_at=None).values_list("id", flat=True))
    assert delivered == {ids[n] for n in chosen}
    assert count == len(delivered)

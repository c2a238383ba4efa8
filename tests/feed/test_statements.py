"""A post written by our statement equals one written by Django."""

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from accounts import revocations
from accounts import services as accounts
from feed import services
from feed.models import Post
from feed.statements import insert_post, set_receipts
from runtime.remembered import forget_all

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


def deactivate(person_id):
    accounts.set_active(person_id, False)


def read_revocations():
    forget_all()
    revocations.is_valid(2, {})


@pytest.mark.parametrize("ban", [deactivate, accounts.delete])
@pytest.mark.parametrize("key", [None, "key"])
@pytest.mark.parametrize("prepare", [forget_all, read_revocations])
def test_nothing_is_written_for_an_author_who_is_not_active(friends, prepare, ban, key):
    ban(1)
    prepare()

    with pytest.raises(accounts.UnknownPerson):
        services.publish_post(author_id=1, body="late", idempotency_key=key)

    assert not Post.objects.exists()


@pytest.mark.skipif(connection.vendor == "postgresql", reason="it locks the author anyway")
def test_the_database_is_not_asked_about_authors_without_revocations(friends):
    read_revocations()
    with CaptureQueriesContext(connection) as queries:
        insert_post(1, "hello")

    assert "accounts_person" not in queries[0]["sql"]


def test_another_error_of_an_active_author_is_not_taken_for_an_unknown_person(friends, monkeypatch):
    def insert(author_id, body):
        return insert_post(author_id, None)  # NULL

    monkeypatch.setattr(services, "insert_post", insert)

    with pytest.raises(IntegrityError), transaction.atomic():
        services.publish_post(author_id=1, body="hello")


@pytest.fixture
def returns_only_the_id(monkeypatch):
    """Make the database behave as MySQL does, without RETURNING."""
    if connection.vendor == "postgresql":
        pytest.skip("its driver can't do without RETURNING")
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

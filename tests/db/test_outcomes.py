"""What a failed request may have stored; tests/system asks a database that freezes."""

import threading
from contextlib import contextmanager

import pytest
from django.db import connection, connections, transaction

from accounts.models import Person
from db import outcomes
from feed.models import Post
from tests import sessions
from tests.db.test_sqlite import locked_file

pytestmark = pytest.mark.django_db(transaction=True)
on_server = pytest.mark.skipif(connection.vendor == "sqlite", reason="is about a server's answers")
GIVE_UP_A_LOCK = {
    "mysql": "SET SESSION innodb_lock_wait_timeout = 1",
    "postgresql": "SET SESSION lock_timeout = '1s'",
}
on_sqlite = pytest.mark.skipif(connection.vendor != "sqlite", reason="is about SQLite's file")
PERSON = {"id": 9, "username": "other", "password": "!"}


@pytest.fixture(autouse=True)
def nothing_stored(friends):
    outcomes.begin()


@pytest.fixture
def locked_person():
    """Another connection holds the lock of person 1, which a post of theirs needs."""
    other = connections.create_connection("default")
    other.set_autocommit(False)
    with other.cursor() as cursor:
        cursor.execute("SELECT id FROM accounts_person WHERE id = 1 FOR UPDATE")
    yield
    other.rollback()
    other.close()


@contextmanager
def killed_in_its_wait():
    """Let the server end this thread's session while its INSERT waits for the lock."""
    killer = threading.Thread(target=end_when_it_waits, args=[sessions.number()])
    killer.start()
    yield
    killer.join()
    connection.close()


def end_when_it_waits(number):
    sessions.wait_until(lambda: number in sessions.waiting())
    sessions.end(number)


def post(author, **headers):
    return author.post("/v1/posts/", {"body": "hello"}, format="json", headers=headers)


def test_a_write_outside_of_a_transaction_may_have_stored_until_the_next_request(author):
    Person.objects.filter(id=1).update(username="x")
    assert outcomes.may_have_stored()

    author.get("/healthz")

    assert not outcomes.may_have_stored()


def test_a_transaction_stores_with_its_commit():
    with transaction.atomic():
        Person.objects.create(**PERSON)
        assert not outcomes.may_have_stored()

    assert outcomes.may_have_stored()


def test_what_is_read_or_rolled_back_stores_nothing():
    list(Person.objects.all())
    with transaction.atomic():
        Person.objects.create(**PERSON)
        transaction.set_rollback(True)

    assert not outcomes.may_have_stored()


def test_another_threads_request_is_another_one():
    Person.objects.filter(id=1).update(username="x")
    seen = []
    thread = threading.Thread(target=lambda: seen.append(outcomes.may_have_stored()))
    thread.start()
    thread.join()

    assert seen == [False]


@on_sqlite
@pytest.mark.parametrize("strategy", ["null", "inline"])
def test_a_post_that_finds_the_file_locked_is_not_stored(author, strategy, settings):
    """The first is one statement, the second a transaction."""
    settings.FEED_STRATEGY = strategy
    with locked_file():
        refused = post(author)

    assert (refused.status_code, refused.json()["code"]) == (503, "not_stored")
    assert refused["Retry-After"] == "1"
    assert not Post.objects.exists()


@on_server
@pytest.mark.parametrize("strategy", ["null", "inline"])
def test_a_post_that_waits_too_long_for_a_lock_is_not_stored(
    author, strategy, settings, locked_person
):
    settings.FEED_STRATEGY = strategy
    with connection.cursor() as cursor:
        cursor.execute(GIVE_UP_A_LOCK[connection.vendor])

    refused = post(author)
    connection.close()

    assert (refused.status_code, refused.json()["code"]) == (503, "not_stored")
    assert not Post.objects.exists()


@on_server
def test_a_post_whose_connection_is_lost_may_be_stored(author, settings, locked_person):
    settings.FEED_STRATEGY = "null"
    with killed_in_its_wait():
        lost = post(author)

    assert (lost.status_code, lost.json()["code"]) == (503, "outcome_unknown")
    assert lost["Retry-After"] == "1"


@on_server
def test_a_transaction_whose_connection_is_lost_before_its_commit_is_not_stored(
    author, locked_person
):
    with killed_in_its_wait():
        lost = post(author, **{"Idempotency-Key": "key"})

    assert (lost.status_code, lost.json()["code"]) == (503, "not_stored")
    assert not Post.objects.exists()


def test_a_read_that_fails_says_nothing_of_storing(author, unreachable_database):
    assert author.get("/v1/people/1/posts/").json()["code"] == "unavailable"
    assert post(author).json()["code"] == "not_stored"

"""Our MySQL backend, and what depends on its settings; make test runs this on MariaDB."""

import time

import pytest
from django.db import connection, connections, transaction

from accounts.models import Person
from db.mysql.base import CHECK_AGAIN_S
from feed.delivery import deliver_pending
from feed.models import BulkEntry, Post
from tests.conftest import make_people, whole_timelines

pytestmark = [
    pytest.mark.skipif(connection.vendor != "mysql", reason="is about MySQL's sessions"),
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture
def ended():
    """Let the server end this thread's session, as if it had been idle for too long."""
    connection.ensure_connection()
    number = connection.connection.thread_id()
    other = connections.create_connection("default")
    with other.cursor() as cursor:
        cursor.execute(f"KILL {number}")
    other.close()
    time.sleep(CHECK_AGAIN_S)


def test_a_command_goes_on_when_its_idle_session_was_ended(ended):
    assert Person.objects.count() == 0


def test_a_transaction_begins_when_its_idle_session_was_ended(ended):
    with transaction.atomic():
        assert Person.objects.count() == 0


@pytest.fixture
def small_packets():
    """Let the server refuse statements of more than a megabyte, as older ones do by default."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT @@GLOBAL.max_allowed_packet")
        (before,) = cursor.fetchone()
        cursor.execute("SET GLOBAL max_allowed_packet = 1048576")
        connection.close()
        yield
    with connection.cursor() as cursor:
        cursor.execute(f"SET GLOBAL max_allowed_packet = {before}")
    connection.close()


def test_a_long_post_to_many_friends_is_written_in_statements_that_fit(small_packets, settings):
    settings.FEED_STRATEGY, settings.FEED_TIMELINE_STORE = "outbox", "bulk"
    make_people(301, [(1, friend) for friend in range(2, 302)])
    whole_timelines()
    Post.objects.create(author_id=1, body=2000 * "\N{PARTY POPPER}")

    assert deliver_pending(10) == 1

    assert not Post.objects.pending().exists()
    assert BulkEntry.objects.count() == 301

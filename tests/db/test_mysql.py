"""What depends on the settings of a MySQL server; make test runs this on MariaDB."""

from contextlib import closing

import pytest
from django.db import connection, connections
from django.db.models.functions import Now
from django.utils import timezone

from feed.delivery import deliver_pending
from feed.models import BulkEntry, Post
from tests.conftest import make_people, whole_timelines

pytestmark = [
    pytest.mark.skipif(connection.vendor != "mysql", reason="is about MySQL's settings"),
    pytest.mark.django_db(transaction=True),
]


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


@pytest.fixture
def elsewhere():
    """A server in another time zone, with connections that begin there."""
    connection.close()
    with closing(connections.create_connection("default")) as other, other.cursor() as cursor:
        cursor.execute("SET GLOBAL time_zone = '+05:00'")
        yield
        cursor.execute("SET GLOBAL time_zone = 'SYSTEM'")
    connection.close()


def test_times_are_utc_whatever_the_zone_of_the_server_is(elsewhere):
    make_people(1)
    post = Post.objects.create(author_id=1, body="x")
    (now,) = Post.objects.values_list(Now(), flat=True)

    for at in (post.created_at, now):
        assert abs((timezone.now() - at).total_seconds()) < 60

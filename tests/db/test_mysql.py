"""Our MySQL backend, and what depends on its settings; make test runs this on MariaDB."""

import time
from contextlib import closing, nullcontext

import pytest
from django.db import connection, connections, transaction
from django.db.models.functions import Now
from django.utils import timezone

from accounts.models import Person
from feed.delivery import deliver_pending
from feed.models import BulkEntry, Post
from runtime import away
from tests.conftest import client_of, make_people, whole_timelines
from tests.proxies import proxy

pytestmark = [
    pytest.mark.skipif(connection.vendor != "mysql", reason="is about MySQL's sessions"),
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture
def ended(monkeypatch):
    """Let the server end this thread's session, as if it had been idle for too long."""
    connection.ensure_connection()
    number = connection.connection.thread_id()
    other = connections.create_connection("default")
    with other.cursor() as cursor:
        cursor.execute(f"KILL {number}")
    other.close()
    monkeypatch.setattr("db.mysql.base.CHECK_AGAIN_S", 0)


@pytest.mark.parametrize("block", [nullcontext, transaction.atomic])
def test_a_command_goes_on_when_its_idle_session_was_ended(block, ended):
    with block():
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


@pytest.fixture
def link(monkeypatch):
    """A link to the server for all new connections, and nobody who knows it from before."""
    monkeypatch.setattr(away, "_servers", {})
    where = connection.settings_dict
    with proxy(int(where["PORT"]), where["HOST"]) as link:
        monkeypatch.setitem(where, "PORT", str(link.port))
        yield link
    connection.close()


def readiness():
    return client_of(None).get("/readyz")


def test_a_database_that_is_far_away_is_ready(link, settings):
    settings.READY_WITHIN_S = 1.5  # this machine may be busy
    make_people(1)
    readiness()  # opens the connection, which takes more than one exchange
    link.delay_s = 0.05
    Post.objects.bulk_create(Post(author_id=1, body="x") for _ in range(3))

    assert [readiness().status_code for _ in range(5)] == [200] * 5


def test_a_database_that_does_not_answer_is_unready_in_time(link, settings):
    assert readiness().status_code == 200
    link.is_silent = True
    began = time.monotonic()

    assert [readiness().status_code for _ in range(20)] == [503] * 20
    assert time.monotonic() - began < 10 * settings.READY_WITHIN_S  # the later ones did not wait

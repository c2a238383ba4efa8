"""What our backends for MySQL and PostgreSQL share: connections that end, servers that are away."""

import time
from contextlib import nullcontext

import pytest
from django.db import OperationalError, connection, transaction

from accounts.models import Person
from feed.models import Post
from runtime import away
from tests import sessions
from tests.conftest import client_of, make_people
from tests.proxies import proxy

pytestmark = [
    pytest.mark.skipif(connection.vendor == "sqlite", reason="has no server"),
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture
def ended(monkeypatch):
    """Let the server end this thread's session, as if it had been idle for too long."""
    sessions.end(sessions.number())
    monkeypatch.setattr("db.remote.CHECK_AGAIN_S", 0)


@pytest.mark.parametrize("block", [nullcontext, transaction.atomic])
def test_a_command_goes_on_when_its_idle_session_was_ended(block, ended):
    with block():
        assert Person.objects.count() == 0


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


def test_a_statement_that_has_no_answer_fails_in_time(link, monkeypatch):
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "read_timeout", 1)
    assert Person.objects.count() == 0
    link.is_silent = True
    began = time.monotonic()

    with pytest.raises(OperationalError):
        Person.objects.count()

    assert 0.9 < time.monotonic() - began < 9  # without the option it is 10 s
    link.is_silent = False
    # After a pause the statement looked for a new session first, and found the server away.
    monkeypatch.setattr(away, "_servers", {})
    assert Person.objects.count() == 0  # in another session

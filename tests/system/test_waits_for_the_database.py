"""For how long a request waits for a database that doesn't answer."""

import time
from contextlib import closing
from dataclasses import replace

import pytest

from db.remote import CHECK_AGAIN_S
from lab.faults.running import serving, wait_for
from launch.processes import frozen
from launch.variants import Variant

pytestmark = pytest.mark.faults

READ_S, REQUEST_S = 12, 3
"""DB_READ_TIMEOUT_S, as set here, and DB_REQUEST_TIMEOUT_S."""
CONNECT_S = 2
"""Seconds that a new connection may take, in place of one that didn't answer."""
POST = ("POST", "/v1/posts/", '{"body": "x"}')
SETTINGS = {"WEB_WORKERS": "1", "WEB_THREADS": "1", "DB_READ_TIMEOUT_S": str(READ_S)}
"""Each thread has a connection to the database: here the one that was used before."""


def served(name, folder):
    variant = replace(Variant.named(name), settings=SETTINGS)
    return serving(variant, folder)


def timed(running, request):
    """Return how long a request takes to be refused, whose process had a connection before."""
    with closing(running.connection(60)) as client:
        wait_for(lambda: took(running, client, request, 200) < 0.15, 60)
        time.sleep(CHECK_AGAIN_S + 0.2)
        with frozen(running.processes.pids("database")):
            return took(running, client, request, 503)


def took(running, client, request, status):
    began = time.monotonic()
    found, _ = running.ask(client, running.tokens[0], *request)
    assert found in (status, status + 1)  # 201
    return time.monotonic() - began


@pytest.mark.parametrize("name", ["mysql_tuned-outbox-setbased@proxy", "mysql_tuned-inline-ring"])
def test_a_short_request_does_not_wait_for_long(tmp_path, name):
    with served(name, tmp_path) as running:
        assert REQUEST_S <= timed(running, POST) < REQUEST_S + CONNECT_S + 4 < READ_S


def test_a_request_that_delivers_into_the_database_may_wait_for_longer(tmp_path):
    with served("mysql_tuned-inline-setbased", tmp_path) as inline:
        assert READ_S <= timed(inline, POST) < READ_S + CONNECT_S + 10

"""A database that is full, stalled or gone: 503 in time, and recovery without a restart."""

import json
import signal
import time
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from multiprocessing.pool import ThreadPool

import MySQLdb
import psutil
import pytest

from lab.faults.running import serving

DEADLINE_S = 15


pytestmark = pytest.mark.alone


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """A service on MySQL, without load."""
    folder = tmp_path_factory.mktemp("run")
    with serving("mysql_tuned-inline-setbased", folder, clients=0) as running:
        yield running


def post(running):
    """Post once on a new connection; return status, headers and seconds."""
    with closing(HTTPConnection("127.0.0.1", running.service.port, timeout=60)) as connection:
        headers = {
            "Authorization": f"Bearer {running.tokens[0]}",
            "Content-Type": "application/json",
        }
        started = time.monotonic()
        connection.request("POST", "/v1/posts/", '{"body": "text"}', headers)
        answer = connection.getresponse()
        body = json.loads(answer.read())
        if answer.status == 201:
            running.accepted.append((started, body))
        return answer.status, answer.headers, time.monotonic() - started


def assert_unavailable(running, times=12, at_once=1):
    """Every worker answers 503 with Retry-After."""
    with ThreadPool(at_once) as clients:
        answers = clients.map(post, [running] * times, chunksize=1)
    for status, headers, seconds in answers:
        assert status == 503
        assert headers["Retry-After"] == "1"
        assert seconds < DEADLINE_S


def assert_recovers(running):
    """Each worker may fail once on a dead connection, then all requests succeed."""
    give_up_at = time.monotonic() + 20
    good = 0
    while good < 20:
        status, _, _ = post(running)
        assert status in (201, 503)
        good = good + 1 if status == 201 else 0
        assert time.monotonic() < give_up_at
    assert running.audit()["ok"]


def test_too_many_connections_give_503_and_recovery(running):
    server = {"host": "127.0.0.1", "port": running.service.servers[0].port, "user": "root"}
    with ExitStack() as others:
        admin = others.enter_context(closing(MySQLdb.connect(**server)))
        admin.cursor().execute("SET GLOBAL max_connections = 10")
        kill_idle_connections(admin)
        with pytest.raises(MySQLdb.OperationalError, match="1040"):  # noqa: PT012
            while True:
                others.enter_context(closing(MySQLdb.connect(**server)))

        assert_unavailable(running)
        admin.cursor().execute("SET GLOBAL max_connections = 1000")
    assert_recovers(running)


def kill_idle_connections(admin):
    """Kill the service's kept connections."""
    cursor = admin.cursor()
    cursor.execute("SELECT id FROM information_schema.processlist WHERE db = 'feed'")
    for (number,) in cursor.fetchall():
        cursor.execute(f"KILL {number}")


def test_a_read_only_database_is_unready(running):
    server = {"host": "127.0.0.1", "port": running.service.servers[0].port, "user": "root"}
    with closing(MySQLdb.connect(**server)) as admin:
        assert ready(running)[0] == 200
        admin.cursor().execute("SET GLOBAL read_only = 1")
        status, told = ready(running)
        admin.cursor().execute("SET GLOBAL read_only = 0")

        assert (status, told["database"]) == (503, "read-only")
        assert ready(running)[0] == 200


def ready(running):
    with closing(HTTPConnection("127.0.0.1", running.service.port, timeout=60)) as connection:
        connection.request("GET", "/readyz")
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


def test_a_stalled_database_gives_503_and_recovery(running):
    assert post(running)[0] == 201
    (pid,) = running.processes.pids("database")
    psutil.Process(pid).suspend()
    try:
        assert_unavailable(running, times=2, at_once=2)
    finally:
        psutil.Process(pid).resume()
    assert_recovers(running)


def test_a_restarted_database_gives_503_and_recovery(running):
    for _ in range(10):
        assert post(running)[0] == 201
    (pid,) = running.processes.pids("database")
    psutil.Process(pid).send_signal(signal.SIGKILL)
    psutil.wait_procs([psutil.Process(pid)], timeout=5)

    assert_unavailable(running)
    running.processes.stop("database")
    running.service.servers[0].start()
    assert_recovers(running)

"""Requests that wait for a server behind the service: the process's other clients don't."""

import json
import os
import time
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from multiprocessing.pool import ThreadPool

import psutil
import pytest

from tests.web.conftest import web
from web.leaders import MOST_WAITING

SLOW_S = 2.0
AT_ONCE_S = 0.7

pytestmark = pytest.mark.alone


def application(environ, start_response):
    """Answer /slow late, everything else at once; tell the process."""
    if environ["PATH_INFO"] == "/slow":
        time.sleep(SLOW_S)
    body = str(os.getpid()).encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    with web(tmp_path_factory.mktemp("service"), application=[f"{__name__}:application"]) as port:
        yield port


def ask(connection, path="/"):
    """Return status, body and seconds."""
    started = time.monotonic()
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer, answer.read(), time.monotonic() - started


def get(port, path="/"):
    with closing(HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        return ask(connection, path)


def slow_requests(port, stack, count):
    """Send them on connections of their own, and wait until they are being answered."""
    pool = stack.enter_context(ThreadPool(count))
    connections = [HTTPConnection("127.0.0.1", port, timeout=20) for _ in range(count)]
    for connection in connections:
        stack.enter_context(closing(connection))
    waiting = pool.map_async(lambda it: ask(it, "/slow"), connections, chunksize=1)
    time.sleep(0.3)
    return connections, waiting


def test_others_are_answered_while_some_requests_wait(port):
    with ExitStack() as stack:
        connections, waiting = slow_requests(port, stack, 3)
        seconds = [get(port)[2] for _ in range(5)]
        assert not waiting.ready()
        late = waiting.get()
        again = [ask(connection) for connection in connections]  # they were kept alive

    assert max(seconds) < AT_ONCE_S
    assert {answer.status for answer, *_ in late + again} == {200}
    assert len({pid for _, pid, _ in late + again}) == 1


def test_a_probe_is_answered_within_a_second_whatever_waits(port):
    with ExitStack() as stack:
        started = time.monotonic()
        connections = [HTTPConnection("127.0.0.1", port, timeout=20) for _ in range(30)]
        for connection in connections:
            stack.enter_context(closing(connection))
            connection.request("GET", "/slow")
        answer, _, seconds = get(port, "/healthz")

        assert (answer.status, seconds < 1) == (200, True)
        statuses = [connection.getresponse().status for connection in connections]
        assert time.monotonic() - started > SLOW_S
    assert set(statuses) == {200, 503}


def test_only_probes_are_answered_while_too_many_requests_wait(port):
    with ExitStack() as stack:
        _, waiting = slow_requests(port, stack, MOST_WAITING + 1)
        refused = []
        while not waiting.ready():
            refused += [it for it in [get(port)] if it[0].status == 503]
            assert get(port, "/healthz")[0].status == 200
        statuses = {answer.status for answer, *_ in waiting.get()}

    assert statuses <= {200, 503}
    assert refused
    for answer, body, _ in refused:
        assert answer.headers["Retry-After"] == "1"
        assert "Try again" in json.loads(body)["detail"]
    assert get(port)[0].status == 200


def test_a_stopping_process_answers_those_who_wait(port):
    process = psutil.Process(int(get(port)[1]))
    with ExitStack() as stack:
        _, waiting = slow_requests(port, stack, 2)
        time.sleep(0.5)
        process.terminate()
        statuses = [answer.status for answer, *_ in waiting.get()]
    process.wait(5)

    assert statuses == [200, 200]

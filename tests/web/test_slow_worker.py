"""Slow requests are answered by a process of their own."""

import os
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from hashlib import sha256
from http.client import HTTPConnection
from pathlib import Path

import psutil
import pytest

from lab.faults.running import wait_for
from tests.web.conftest import web
from web.lanes import HASHING, THREADS
from web.slow_worker import MOST_PER_THREAD, NICE, WITHIN_S

PAUSING, CALCULATING = (f"tests.web.applications:{name}" for name in ("pausing", "calculating"))
SLOW, SHORT = "/v1/token/", "/v1/feed/"
TAKEN = MOST_PER_THREAD * THREADS[HASHING]


@contextmanager
def serving(folder, application=PAUSING, **how):
    """A web server with a slow worker; yields its port when both workers are there."""
    with web(folder, application=[application], **how) as port:
        wait_for(lambda: pid_of(port, SLOW) != pid_of(port, SHORT))
        yield port


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("service")) as port:
        yield port


def ask(port, path, body=None):
    """Return the answer, the process and the digest of what it received."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.request("POST" if path == SLOW else "GET", path, body)
        answer = connection.getresponse()
        pid, digest = answer.read().decode().split()
        return answer, int(pid), digest


def pid_of(port, path):
    return ask(port, path)[1]


def test_a_slow_worker_listens_on_no_port(tmp_path):
    """The kernel would give it connections, which would be reset."""
    planted = str(Path(__file__).with_name("planted") / "listening")
    listening = tmp_path / "listening"
    settings = {"PYTHONPATH": planted, "LISTENING": str(listening)}
    with serving(tmp_path, options=["--reuse-port"], **settings) as port:
        assert listening.read_text().split() == [str(pid_of(port, SHORT))]


def start(do, count):
    """Do something in threads; return a function that waits for what they return."""
    pool = ThreadPoolExecutor(count)
    begun = [pool.submit(do) for _ in range(count)]
    pool.shutdown(wait=False)
    return lambda: [it.result() for it in begun]


def answered_in_a_second(port):
    ends_at, answered = time.monotonic() + 1, 0
    with closing(HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        while time.monotonic() < ends_at:
            connection.request("GET", SHORT)
            answered += connection.getresponse().read() != b""
    return answered


def timed(port):
    started = time.monotonic()
    with closing(HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request("POST", SLOW, b"{}")
        answer = connection.getresponse()
        answer.read()
        return answer.status, answer.headers["Retry-After"], time.monotonic() - started


def test_slow_requests_are_answered_by_a_nicer_process_that_closes_the_connection(port):
    answer, slow, _ = ask(port, SLOW, b"{}")
    other = pid_of(port, SHORT)

    assert slow != other
    assert psutil.Process(slow).nice() == psutil.Process(other).nice() + NICE
    assert answer.headers["Connection"] == "close"
    assert {pid_of(port, SHORT) for _ in range(20)} == {other}, "the slow one listens"


@pytest.mark.parametrize("size", [0, 1000, 64 * 1024])
def test_a_passed_request_is_whole(port, size):
    body = os.urandom(size)

    assert ask(port, SLOW, body)[2] == sha256(body).hexdigest()


def test_a_slow_request_behind_another_on_a_connection_is_answered(port):
    short = f"GET {SHORT} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    slow = f"POST {SLOW} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{{}}".encode()
    with closing(socket.create_connection(("127.0.0.1", port), timeout=5)) as client:
        client.sendall(short + slow + short)
        received = b""
        while data := client.recv(65536):
            received += data

    assert received.count(b"200 OK") == 2
    assert received.count(b"Connection: close") == 1


def test_a_successor_answers_what_was_passed_to_a_process_that_died(port):
    slow = pid_of(port, SLOW)
    os.kill(slow, signal.SIGKILL)
    answer, successor, _ = ask(port, SLOW, b"{}")

    assert answer.status == 200
    assert successor not in (slow, pid_of(port, SHORT))


def test_more_than_can_be_answered_soon_is_refused_at_once(port):
    found = start(lambda: timed(port), TAKEN + 10)()
    refused = [(retry_after, seconds) for status, retry_after, seconds in found if status == 503]

    assert {status for status, *_ in found} == {200, 503}
    assert 10 <= len(refused) < TAKEN + 5
    assert {retry_after for retry_after, _ in refused} == {"1"}
    assert min(seconds for _, seconds in refused) < 0.5
    assert max(seconds for *_, seconds in found) < WITHIN_S + 2


@pytest.mark.alone
@pytest.mark.parametrize("slow_workers", ["1", "0"], ids=["guarded", "control"])
def test_exports_take_nothing_from_short_requests(slow_workers, tmp_path):
    with ExitStack() as stack:
        serve = serving if slow_workers == "1" else web
        application = CALCULATING if slow_workers == "1" else [CALCULATING]
        settings = {"WEB_SLOW_WORKERS": slow_workers}
        port = stack.enter_context(serve(tmp_path, application=application, **settings))
        is_slow_elsewhere = pid_of(port, SLOW) != pid_of(port, SHORT)
        alone = answered_in_a_second(port)
        exports = start(lambda: ask(port, "/v1/me/export/"), 6)
        time.sleep(0.1)
        beside = answered_in_a_second(port)
        statuses = [answer.status for answer, *_ in exports()]

    assert statuses == 6 * [200]
    assert is_slow_elsewhere == (slow_workers == "1")
    assert (beside > alone / 3) == (slow_workers == "1")


@pytest.mark.parametrize("path", [SLOW, "/v1/people/1/posts/"], ids=["slow", "short"])
def test_a_process_that_is_told_to_stop_answers_what_it_has(port, path):
    process = psutil.Process(pid_of(port, path))
    waiting = start(lambda: ask(port, path, b"{}"), 3)
    time.sleep(0.1)
    process.terminate()

    assert [answer.status for answer, *_ in waiting()] == 3 * [200]
    process.wait(5)

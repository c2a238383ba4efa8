"""Clients that send half a request, or don't read: none of them blocks the others."""

import select
import socket
import time
from contextlib import ExitStack, closing
from http.client import HTTPConnection

import pytest

from accounts.authentication import access_tokens
from tests.web.conftest import web
from tests.web.half_requests import ANSWERED, KINDS, halves
from web.gunicorn_worker import REQUEST_WITHIN_S

AT_ONCE_S = 0.5
UNWHOLE = [kind for kind in KINDS if kind not in ANSWERED]


def connect(port, sent=b"", **options):
    client = socket.create_connection(("127.0.0.1", port), timeout=5)
    client.sendall(sent)
    return closing(client)


def post(port, body=b'{"body": ""}', headers=b""):
    """Return the head of a post request with a token, and its body."""
    ((_, token),) = access_tokens([1])
    head = (
        b"POST /v1/posts/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Authorization: Bearer %b\r\nContent-Length: %d\r\n%b\r\n"
    )
    return head % (token.encode(), len(body), headers), body


def read(client, until):
    """Read until these bytes; return what was read."""
    received = b""
    while until not in received:
        data = client.recv(65536)
        assert data, received
        received += data
    return received


def is_open(client):
    """Return whether the connection is still open after half a second."""
    return not select.select([client], [], [], 0.5)[0]


def seconds_to_answer(port, method="GET", path="/healthz", body=None):
    started = time.monotonic()
    with closing(HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.request(method, path, body=body)
        connection.getresponse().read()
    return time.monotonic() - started


@pytest.mark.alone
@pytest.mark.parametrize("kind", KINDS)
def test_other_clients_are_answered_at_once_beside_twenty_halves(port, kind):
    with halves(port, kind, 20):
        for _ in range(3):
            assert seconds_to_answer(port) < AT_ONCE_S
            assert seconds_to_answer(port, "POST", "/v1/posts/", b"x" * 60_000) < AT_ONCE_S


@pytest.mark.parametrize("cut", [1, 30, -100, -11, -1])
def test_a_completed_half_is_answered(port, cut):
    request = b"".join(post(port, b'{"body": ""}'.rjust(200)))
    with connect(port, request[:cut]) as client:
        time.sleep(0.2)
        client.sendall(request[cut:] + request[:cut])
        assert b"400 Bad Request" in read(client, b'{"body":')
        time.sleep(0.2)
        client.sendall(request[cut:])
        assert b"400 Bad Request" in read(client, b'{"body":')


def test_a_body_in_small_pieces_is_read_completely(port):
    head, body = post(port, b'{"body": ""}'.rjust(64 * 1024))
    with connect(port, head) as client:
        for start in range(0, len(body), 5000):
            client.sendall(body[start : start + 5000])
            time.sleep(0.01)
        assert b"400 Bad Request" in read(client, b'{"body":')


@pytest.mark.alone
def test_halves_are_closed_in_time_even_if_they_grow(port):
    started = time.monotonic()
    with ExitStack() as stack:
        idle = [stack.enter_context(connect(port, KINDS[kind])) for kind in UNWHOLE]
        growing = stack.enter_context(connect(port, b"GET / HTTP/1.1\r\nX-Slow: "))
        while is_open(growing) and time.monotonic() - started < 2 * REQUEST_WITHIN_S:
            growing.sendall(b"x")
        assert REQUEST_WITHIN_S - 1 < time.monotonic() - started < REQUEST_WITHIN_S + 3
        for client in idle:
            assert client.recv(1000) in (b"", b"HTTP/1.1 100 Continue\r\n\r\n")


def test_expect_100_continue_is_answered_once(port):
    head, body = post(port, headers=b"Expect: 100-continue\r\n")
    with connect(port, head) as client:
        assert read(client, b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(body)
        assert read(client, b'{"body":').startswith(b"HTTP/1.1 400 Bad Request\r\n")


@pytest.mark.parametrize("headers", [b"", b"Expect: 100-continue\r\n"], ids=["sent", "offered"])
def test_a_too_long_body_is_refused_before_it_arrives(port, headers):
    head, _ = post(port, b"x" * (64 * 1024 + 1), headers)
    with connect(port, head) as client:
        answer = read(client, b"too large")
        assert answer.startswith(b"HTTP/1.1 413 ")
        assert b"\r\nConnection: close\r\n" in answer
        client.sendall(b"x" * 64 * 1024)  # it may be in flight, and doesn't break the answer
        assert client.recv(1000) == b""


@pytest.mark.parametrize("kind", ["long", "chunked"])
def test_an_answer_before_the_whole_body_ends_the_connection(port, kind):
    with connect(port, KINDS[kind]) as client:
        answer = read(client, b"Connection: close\r\n")
        assert answer.startswith(b"HTTP/1.1 401 ")
        while client.recv(1000):
            pass


def test_a_client_that_sends_a_long_body_first_can_read_the_refusal(port):
    with closing(HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
        connection.request("POST", "/v1/posts/", body=b"x" * 300_000)
        assert connection.getresponse().status == 401


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET /" + b"x" * 100_000, 414),
        (b"GET / HTTP/1.1\r\n" + b"X-Long: x\r\n" * 10_000, 431),
        (b"GET / HTTP/1.1\nHost: localhost\n\n", 400),
        (b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1", 400),
    ],
    ids=["line", "fields", "line feeds", "negative", "huge", "both lengths"],
)
def test_an_invalid_head_is_refused(port, sent, status):
    with connect(port, sent) as client:
        assert b"HTTP/1.1 %d " % status in read(client, b"\r\n\r\n")


@pytest.mark.alone
def test_a_client_that_reads_no_answer_blocks_others_for_seconds_at_most(port):
    large = b"GET /v1/schema/ HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with connect(port) as client:
        client.sendall(large * 300)
        time.sleep(0.2)
        assert seconds_to_answer(port) < 5


@pytest.mark.alone
@pytest.mark.parametrize("kind", ["byte", "staying"])
def test_more_halves_than_places_displace_each_other(tmp_path, kind):
    few = ["sh", "-c", 'ulimit -n 200; exec "$@"', "sh"]
    with web(tmp_path, *few) as port, closing(HTTPConnection("127.0.0.1", port)) as kept:
        kept.request("GET", "/healthz")
        kept.getresponse().read()
        before = kept.sock
        with halves(port, kind, 400):
            seconds_to_answer(port)  # it waits for earlier ones
            for _ in range(5):
                assert seconds_to_answer(port) < AT_ONCE_S
            kept.request("GET", "/healthz")
            assert kept.getresponse().status == 200
            assert kept.sock is before

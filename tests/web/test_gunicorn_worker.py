"""The worker without threads, from a client's side."""

import socket
import time
from contextlib import ExitStack, closing
from http.client import HTTPConnection

import pytest

GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


def connect(port):
    client = socket.create_connection(("127.0.0.1", port), timeout=5)
    return closing(client)


def test_a_connection_serves_many_requests(port):
    with closing(HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
        for _ in range(3):
            connection.request("GET", "/healthz")
            answer = connection.getresponse()
            assert (answer.status, answer.read()) == (200, b'{"status":"up"}')
            assert connection.sock is not None


def test_silent_clients_block_no_others(port):
    with ExitStack() as silent:
        for _ in range(50):
            silent.enter_context(connect(port))
        started = time.monotonic()
        with connect(port) as client:
            client.sendall(GET)
            assert b"200 OK" in client.recv(1000)

        assert time.monotonic() - started < 2


def test_a_client_may_wait_before_its_first_request(port):
    with connect(port) as client:
        time.sleep(0.5)
        client.sendall(GET)
        assert b"200 OK" in client.recv(1000)


@pytest.mark.parametrize("count", [3, 1000])
def test_requests_sent_together_are_all_answered(port, count):
    with connect(port) as client:
        client.sendall(GET * count)
        received = b""
        while received.count(b"200 OK") < count:
            data = client.recv(1000)
            assert data
            received += data


def test_an_unread_body_does_not_break_the_next_request(port):
    with closing(HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
        for method, path, status in (("POST", "/v1/posts/", 401), ("GET", "/healthz", 200)):
            connection.request(method, path, body=b"x" * 1000)
            answer = connection.getresponse()
            answer.read()
            assert answer.status == status

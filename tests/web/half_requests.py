"""Clients that send only half a request, and the effect on other clients.

python -m tests.web.half_requests --port 8000 --tokens var/tokens.csv --kind byte --halves 6
"""

import argparse
import csv
import selectors
import socket
import threading
import time
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection, HTTPException
from itertools import cycle
from pathlib import Path

POST = b"POST /v1/posts/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
KINDS = {
    "silent": b"",
    "byte": b"G",
    "head": b"GET /healthz HTTP/1.1\r\nHost: local",
    "body": POST + b'Content-Length: 100\r\n\r\n{"body": ',
    "healthz": b"POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n",
    "expect": POST + b"Expect: 100-continue\r\nContent-Length: 100\r\n\r\n",
    "long": POST + b'Content-Length: 1000000\r\n\r\n{"body": ',
    "chunked": POST + b'Transfer-Encoding: chunked\r\n\r\n64\r\n{"body": ',
    "staying": b"GET /healthz HTTP/1.0\r\n\r\n",
}
ANSWERED = ("long", "chunked", "staying")
"""Kinds that are answered as sent. These clients stay when the server closes."""


@contextmanager
def halves(port, kind, count):
    """Keep this many halves open; replace those that the server closes."""
    stopped = threading.Event()
    opened = threading.Event()
    thread = threading.Thread(target=_keep_open, args=(port, kind, count, opened, stopped))
    thread.start()
    opened.wait(20)
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def _keep_open(port, kind, count, opened, stopped):
    with selectors.DefaultSelector() as selector, ExitStack() as stack:
        for _ in range(count):
            stack.enter_context(_open(selector, port, kind))
        opened.set()
        while not stopped.is_set():
            for key, _ in selector.select(0.1):
                if _has_ended(key.fileobj):
                    selector.unregister(key.fileobj)
                    if kind not in ANSWERED:
                        key.fileobj.close()
                        stack.enter_context(_open(selector, port, kind))


def _open(selector, port, kind):
    client = socket.create_connection(("127.0.0.1", port), timeout=20)
    client.sendall(KINDS[kind])
    selector.register(client, selectors.EVENT_READ)
    return client


def _has_ended(client):
    try:
        return not client.recv(65536)
    except OSError:
        return True


def load(port, tokens, *, clients, seconds):
    """Post, or get /healthz without tokens, without pauses; return the response times."""
    times, errors, ends_at = [], [], time.monotonic() + seconds
    turns = cycle(tokens or [None])
    threads = [
        threading.Thread(target=_ask, args=(port, next(turns), times, errors, ends_at))
        for _ in range(clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(times), errors


def _ask(port, token, times, errors, ends_at):
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    while time.monotonic() < ends_at:
        started = time.monotonic()
        try:
            status = request(connection, token)
            if status >= 400:
                errors.append(status)
        except (OSError, HTTPException) as error:
            errors.append(repr(error))
            connection.close()
        times.append(time.monotonic() - started)


def request(connection, token):
    if token:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        connection.request("POST", "/v1/posts/", b'{"body": "hello"}', headers)
    else:
        connection.request("GET", "/healthz")
    answer = connection.getresponse()
    answer.read()
    return answer.status


def _say(what, times, errors, seconds):
    """Seconds until the last client had its answer."""
    p99_ms = times[int(len(times) * 0.99)] * 1000
    good = len(times) - len(errors)
    print(f"{what}: {good / seconds:.1f}/s, p99 {p99_ms:.0f} ms, {len(errors)} errors", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--tokens", type=Path, help="post as these people, instead of GET /healthz")
    parser.add_argument("--kind", choices=KINDS, default="byte")
    parser.add_argument("--halves", type=int, default=6)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=8)
    options = parser.parse_args()
    tokens = []
    if options.tokens:
        with options.tokens.open() as file:
            tokens = [row["token"] for row in csv.DictReader(file)]

    def measure(what):
        started = time.monotonic()
        times, errors = load(options.port, tokens, clients=options.clients, seconds=options.seconds)
        _say(what, times, errors, time.monotonic() - started)

    measure("no halves")
    with halves(options.port, options.kind, options.halves):
        measure(f"{options.halves} of {options.kind}")


if __name__ == "__main__":
    main()

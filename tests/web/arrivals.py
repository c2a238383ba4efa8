"""Requests that come at a rate, whether or not earlier ones are answered.

python -m tests.web.arrivals --port 8000 --tokens var/tokens.csv --per-s 500 --times 1 2 3 5
"""

import argparse
import csv
import re
import selectors
import socket
import threading
import time
from collections import Counter
from http.client import HTTPConnection
from itertools import cycle
from pathlib import Path

from tests.web.half_requests import POST

PATIENCE_S = 2.0
MOST_CONNECTIONS = 900
LENGTH = re.compile(rb"content-length: (\d+)\r\n", re.IGNORECASE)


class Client:
    def __init__(self, port):
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock.setblocking(False)
        self.due, self.received = 0.0, b""

    def ask(self, request, due):
        self.due, self.received = due, b""
        self.sock.sendall(request)

    def status(self):
        """Return the status of a whole answer, None before that, 0 at its end without one."""
        try:
            data = self.sock.recv(65536)
        except BlockingIOError:
            return None
        except OSError:
            return 0
        self.received += data
        head, ends, body = self.received.partition(b"\r\n\r\n")
        if ends and len(body) >= int(LENGTH.search(head + ends)[1]):
            return int(head.split()[1])
        return None if data else 0


class Answers:
    """Of each arrival: its status, or "late", "lost" or "dropped"; and the seconds it took."""

    def __init__(self):
        self.all, self.retries = [], 0

    def note(self, what, seconds, answer=b""):
        self.all.append((what, seconds))
        self.retries += b"Retry-After" in answer

    @property
    def counts(self):
        return Counter(what for what, _ in self.all)

    def seconds(self, what):
        return sorted(seconds for of, seconds in self.all if of == what) or [0.0]


def arrive(port, requests, *, per_s, seconds):
    """Send these requests in turn, at a rate; return what came of them."""
    answers, requests = Answers(), cycle(requests)
    idle, busy, due = [], {}, time.monotonic()
    ends_at = due + seconds
    with selectors.DefaultSelector() as selector:
        while due < ends_at or busy:
            now = time.monotonic()
            while due <= now and due < ends_at:
                if not idle and len(busy) < MOST_CONNECTIONS:
                    idle.append(Client(port))
                    selector.register(idle[-1].sock, selectors.EVENT_READ, idle[-1])
                if idle:
                    _ask(selector, idle.pop(), next(requests), due, busy, answers)
                else:
                    answers.note("dropped", 0.0)
                due += 1 / per_s
            for key, _ in selector.select(max(0.0, min(due, now + 0.05) - time.monotonic())):
                _take(selector, key.data, idle, busy, answers)
            _give_up(selector, busy, answers)
        for client in idle:
            client.sock.close()
    return answers


def _ask(selector, client, request, due, busy, answers):
    try:
        client.ask(request, due)
        busy[client] = due
    except OSError:
        answers.note("lost", 0.0)
        _close(selector, client)


def _take(selector, client, idle, busy, answers):
    status = client.status()
    if status is None:
        return
    asked = busy.pop(client, None)
    if asked is not None:
        answers.note(status or "lost", time.monotonic() - asked, client.received)
    if client not in idle and status and b"Connection: close" not in client.received:
        idle.append(client)
    else:
        if client in idle:
            idle.remove(client)
        _close(selector, client)


def _give_up(selector, busy, answers):
    now = time.monotonic()
    while busy and now > next(iter(busy.values())) + PATIENCE_S:
        client = next(iter(busy))
        del busy[client]
        answers.note("late", PATIENCE_S)
        _close(selector, client)


def _close(selector, client):
    selector.unregister(client.sock)
    client.sock.close()


class Prober(threading.Thread):
    """Asks for /healthz ten times a second while a block runs, on a new connection each time."""

    def __init__(self, port, path="/healthz"):
        super().__init__()
        self.port, self.path, self.seconds, self.statuses = port, path, [], Counter()
        self._ended = threading.Event()

    def run(self):
        while not self._ended.wait(0.1):
            started = time.monotonic()
            connection = HTTPConnection("127.0.0.1", self.port, timeout=20)
            connection.request("GET", self.path)
            answer = connection.getresponse()
            answer.read()
            connection.close()
            self.statuses[answer.status] += 1
            self.seconds.append(time.monotonic() - started)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self._ended.set()
        self.join()


def post(token, body=b'{"body": "hello"}'):
    head = b"Authorization: Bearer %b\r\nContent-Length: %d\r\n\r\n" % (token.encode(), len(body))
    return POST + head + body


def get(path, token):
    head = "GET {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n"
    return head.format(path, token).encode()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--tokens", type=Path, required=True)
    parser.add_argument("--per-s", type=float, default=500)
    parser.add_argument("--times", type=float, nargs="+", default=[1, 2, 3, 5])
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--read", help="a path to get, instead of posting")
    options = parser.parse_args()
    with options.tokens.open() as file:
        tokens = [row["token"] for row in csv.DictReader(file)]
    requests = [get(options.read, it) if options.read else post(it) for it in tokens]
    for times in options.times:
        per_s = times * options.per_s
        with Prober(options.port) as prober:
            answers = arrive(options.port, requests, per_s=per_s, seconds=options.seconds)
        good = [what for what in answers.counts if isinstance(what, int) and what < 400]
        for what in [*good, 503]:
            found = answers.seconds(what)
            p50, p99 = (found[int(len(found) * share)] * 1000 for share in (0.5, 0.99))
            print(f"{times:g} x: {what} {len(found) / options.seconds:.0f}/s, ", end="")
            print(f"p50 {p50:.0f} ms, p99 {p99:.0f} ms")
        print(f"  {dict(answers.counts)}, slowest probe {max(prober.seconds):.2f} s", flush=True)
        time.sleep(3)


if __name__ == "__main__":
    main()

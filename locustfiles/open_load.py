"""Open arrivals at random times, like those of independent people, from one lean process.

Every arrival is a row in requests.csv with its outcome: answered, refused, timed out, lost, or
dropped because too many were unanswered.
"""

import argparse
import csv
import json
import os
import random
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from locustfiles.connections import Answer, Connections, Request
from locustfiles.texts import random_body

POST, FEED = "/v1/posts/", "/v1/feed/"
REQUESTED = "timestamp request_type name response_time_ms response_length exception".split()
UNANSWERED = ("timestamp", "request_type", "name", "waited_ms")
ACCEPTED = ("id", "author", "created_at")
SENT_BETWEEN_ANSWERS = 8
"""Requests that a generator that is late sends before it takes answers again."""
MOST_UNANSWERED = 15_000
"""Connections, if this process may open so many files."""

Schedule = Iterable[tuple[float, Request]]
"""Requests with the Unix times when they are due, in that order."""


class Step(NamedTuple):
    rate: float
    start: float
    """Of the measured part, in Unix time."""
    end: float
    late_p99_ms: float
    """By how much the generator itself was late."""


class OpenLoad:
    """A service under open arrivals; the outcomes are kept in memory until they are written."""

    def __init__(self, options: argparse.Namespace) -> None:
        url = urlsplit(options.host)
        self.host = url.netloc
        self.address = url.hostname or "127.0.0.1", url.port or 80
        self._options = options
        self._rows: list[tuple[object, ...]] = []
        self._posts: list[bytes] = []
        self._connections = Connections(
            self.address, self._done, most=options.most_unanswered, timeout_s=options.timeout_s
        )

    def offer(self, schedule: Schedule) -> list[float]:
        """Send requests when they are due; return by how many seconds each was sent late."""
        late_s: list[float] = []
        for due, request in schedule:
            while (now := time.time()) < due:
                self._connections.wait(due - now)
            self._connections.send(request, due)
            late_s.append(now - due)
            if len(late_s) % SENT_BETWEEN_ANSWERS == 0:
                self._connections.wait(0)
        return late_s

    def ask_all(self, requests: Iterable[Request], at_once: int) -> None:
        """Send requests before the load, so many at once. Raises SystemExit if one fails."""
        for request in requests:
            self._wait_until_fewer(at_once)
            self._connections.send(request, time.time())
        self._wait_until_fewer(1)
        failed = sorted({str(error) for *_, error in self._rows if error})
        self._rows.clear()
        if failed:
            raise SystemExit(f"before the load: {', '.join(failed)}")

    def finish(self, steps: Sequence[Step]) -> None:
        """Wait for the last answers and write all files."""
        self._wait_until_fewer(1)
        self._connections.close()
        posts = map(json.loads, self._posts)
        _write(self._options.requests, REQUESTED, self._rows)
        _write(self._options.accepted, ACCEPTED, ([it[name] for name in ACCEPTED] for it in posts))
        _write(self._options.unanswered, UNANSWERED, [])  # every arrival has its outcome
        _write(self._options.steps, Step._fields, steps)

    def _wait_until_fewer(self, busy: int) -> None:
        while self._connections.busy >= busy:
            self._connections.wait(0.1)

    def _done(self, request: Request, due: float, outcome: Answer | str) -> None:
        ended = time.time()
        if isinstance(outcome, Answer):
            error, length = request.wanted(outcome), len(outcome.body)
        else:
            error, length = outcome, 0
        took_ms = f"{(ended - due) * 1000:.3f}"
        self._rows.append((f"{due:.6f}", request.method, request.name, took_ms, length, error))
        if isinstance(outcome, Answer) and not error:
            self._succeeded(request, outcome, ended)

    def _succeeded(self, request: Request, answer: Answer, ended: float) -> None:
        if request.name == POST:
            self._posts.append(answer.body)
        following = request.follow(answer)
        if following is not None:
            self._connections.send(following, ended)


def step(rate: float, start: float, end: float, late_s: Sequence[float]) -> Step:
    late_p99_ms = sorted(late_s)[int(0.99 * len(late_s))] * 1000 if late_s else 0.0
    return Step(rate, start, end, round(late_p99_ms, 2))


def random_times(rate: float, start: float, end: float) -> list[float]:
    """Return the times of ``rate`` arrivals per second, in order."""
    return sorted(random.uniform(start, end) for _ in range(round(rate * (end - start))))  # noqa: S311


def read_tokens(path: str) -> list[str]:
    with Path(path).open(newline="") as file:
        return [row["token"] for row in csv.DictReader(file)]


def post_by(token: str, host: str) -> Request:
    """Return a request that posts a random text."""
    body = json.dumps({"body": random_body()}).encode()
    about = ("Content-Type: application/json", f"Content-Length: {len(body)}")
    return Request("POST", POST, head("POST", POST, host, token, *about) + body, _created)


def head(method: str, path: str, host: str, token: str, *more: str) -> bytes:
    """Return the head of a request, with these lines more."""
    lines = (f"{method} {path} HTTP/1.1", f"Host: {host}", f"Authorization: Bearer {token}", *more)
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


def _created(answer: Answer) -> str:
    return "" if answer.status == 201 else refusal(answer)


def refusal(answer: Answer) -> str:
    """Return what an answer says that is no success."""
    when = "with" if b"\r\nretry-after:" in answer.head else "without"
    return f"status {answer.status} {when} Retry-After"


def parser(description: str | None, prog: str) -> argparse.ArgumentParser:
    """Return a parser with the options of every open load."""
    top = argparse.ArgumentParser(prog=f"python -m {prog}", description=description)
    top.add_argument("--host", default="http://127.0.0.1:8000")
    top.add_argument("--tokens", default="var/tokens.csv")
    top.add_argument("--warm-up-s", type=float, default=3.0, help="of each rate; not measured")
    top.add_argument("--run-time-s", type=float, default=10.0, help="of each rate")
    top.add_argument("--timeout-s", type=float, default=5.0, help="until a client gives up")
    unanswered = "more arrivals are dropped, and counted"
    top.add_argument("--most-unanswered", type=int, default=MOST_UNANSWERED, help=unanswered)
    for name in ("requests", "unanswered", "accepted", "steps"):
        top.add_argument(f"--{name}", default=os.devnull, help="a CSV file to write")
    return top


def _write(path: str, columns: Sequence[str], values: Iterable[Iterable[object]]) -> None:
    with open(path, "w", newline="") as file:  # noqa: PTH123
        rows = csv.writer(file)
        rows.writerow(columns)
        rows.writerows(values)

"""People post at several rates in turn, answered or not, and a prober watches.

    python -m locustfiles.overload --host http://127.0.0.1:8000 --rates 500,1000,1500,2500

Arrivals have random times, like those of independent people. Every arrival is a row in requests.csv
with its outcome: answered, refused, timed out, lost, or dropped because too many were unanswered.
"""

import argparse
import csv
import json
import multiprocessing
import os
import random
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import NamedTuple, TypeGuard
from urllib.parse import urlsplit

from locustfiles.connections import Answer, Connections
from locustfiles.prober import probe
from locustfiles.texts import random_body

NAME = ("POST", "/v1/posts/")
REQUESTED = "timestamp request_type name response_time_ms response_length exception".split()
UNANSWERED = ("timestamp", "request_type", "name", "waited_ms")
ACCEPTED = ("id", "author", "created_at")
REQUESTS = 2000
"""Different requests; they are built before the load."""
SENT_BETWEEN_ANSWERS = 8
"""Requests that a generator that is late sends before it takes answers again."""
MOST_UNANSWERED = 5000
"""Connections, if this process may open so many files."""


class Step(NamedTuple):
    rate: float
    start: float
    """Of the measured part, in Unix time."""
    end: float
    late_p99_ms: float
    """By how much the generator itself was late."""


class Outcomes:
    """What came of each arrival; kept in memory, and written when the load has ended."""

    def __init__(self) -> None:
        self._rows: list[tuple[float, float, Answer | str]] = []

    def add(self, due: float, outcome: Answer | str) -> None:
        self._rows.append((due, time.time(), outcome))

    def write(self, requests: str, accepted: str) -> None:
        _write(requests, REQUESTED, (_row(*one) for one in self._rows))
        posts = (json.loads(it.body) for _, _, it in self._rows if _is_accepted(it))
        _write(accepted, ACCEPTED, ((post[name] for name in ACCEPTED) for post in posts))


def _row(due: float, ended: float, outcome: Answer | str) -> tuple[object, ...]:
    length = len(outcome.body) if isinstance(outcome, Answer) else 0
    return (f"{due:.6f}", *NAME, f"{(ended - due) * 1000:.3f}", length, told(outcome))


def _is_accepted(outcome: Answer | str) -> TypeGuard[Answer]:
    return isinstance(outcome, Answer) and outcome.status == 201


def told(outcome: Answer | str) -> str:
    """Return what went wrong; empty for an accepted post."""
    if isinstance(outcome, str):
        return outcome
    if _is_accepted(outcome):
        return ""
    when = "with" if b"\r\nretry-after:" in outcome.head else "without"
    return f"status {outcome.status} {when} Retry-After"


def build_requests(host: str, tokens: Path) -> Iterator[bytes]:
    """Return an endless series of requests, by one person after the other."""
    with tokens.open(newline="") as file:
        people = cycle([row["token"] for row in csv.DictReader(file)])
    return cycle([_request(host, next(people)) for _ in range(REQUESTS)])


def _request(host: str, token: str) -> bytes:
    body = json.dumps({"body": random_body()}).encode()
    head = (
        f"{NAME[0]} {NAME[1]} HTTP/1.1",
        f"Host: {host}",
        f"Authorization: Bearer {token}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    )
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def offer(
    connections: Connections, requests: Iterator[bytes], rate: float, start: float, end: float
) -> list[float]:
    """Send requests at random times from ``start`` to ``end``; return how late each was sent."""
    late_s: list[float] = []
    for due in sorted(random.uniform(start, end) for _ in range(round(rate * (end - start)))):  # noqa: S311
        while (now := time.time()) < due:
            connections.wait(due - now)
        connections.send(next(requests), due)
        late_s.append(now - due)
        if len(late_s) % SENT_BETWEEN_ANSWERS == 0:
            connections.wait(0)
    return late_s


def run(options: argparse.Namespace) -> None:
    url = urlsplit(options.host)
    address = url.hostname or "127.0.0.1", url.port or 80
    requests, outcomes = build_requests(url.netloc, Path(options.tokens)), Outcomes()
    most, timeout_s = options.most_unanswered, options.timeout_s
    connections = Connections(address, outcomes.add, most=most, timeout_s=timeout_s)
    prober = multiprocessing.Process(target=probe, args=(*address, options.probes), daemon=True)
    prober.start()
    steps = []
    at = time.time()
    for rate in options.rates:
        start = at + options.warm_up_s
        offer(connections, requests, rate, at, start)
        at = start + options.run_time_s
        late_s = sorted(offer(connections, requests, rate, start, at))
        late_p99_ms = late_s[int(0.99 * len(late_s))] * 1000 if late_s else 0.0
        steps.append(Step(rate, start, at, round(late_p99_ms, 2)))
    while connections.busy:
        connections.wait(0.1)
    connections.close()
    prober.terminate()
    prober.join()
    outcomes.write(options.requests, options.accepted)
    _write(options.unanswered, UNANSWERED, [])  # every arrival has its outcome
    _write(options.steps, Step._fields, steps)


def _write(path: str, columns: Sequence[str], values: Iterable[Iterable[object]]) -> None:
    with open(path, "w", newline="") as file:  # noqa: PTH123
        rows = csv.writer(file)
        rows.writerow(columns)
        rows.writerows(values)


def _rates(text: str) -> list[float]:
    return [float(rate) for rate in text.split(",")]


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m locustfiles.overload", description=__doc__)
    parser.add_argument("--host", default="http://127.0.0.1:8000")
    parser.add_argument("--tokens", default="var/tokens.csv")
    parser.add_argument("--rates", type=_rates, required=True, help="posts per second, in turn")
    parser.add_argument("--warm-up-s", type=float, default=3.0, help="of each rate; not measured")
    parser.add_argument("--run-time-s", type=float, default=10.0, help="of each rate")
    parser.add_argument("--timeout-s", type=float, default=5.0, help="until a client gives up")
    unanswered = "more arrivals are dropped, and counted"
    parser.add_argument("--most-unanswered", type=int, default=MOST_UNANSWERED, help=unanswered)
    for name in ("requests", "unanswered", "accepted", "probes", "steps"):
        parser.add_argument(f"--{name}", default=os.devnull, help="a CSV file to write")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(parse())

"""Open streams, which a process of their own reads, and their comparison with accepted posts."""

import json
import os
import signal
import sys
import time
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from typing import NamedTuple

from lab.running.screens import Accepted
from lab.systems.api import Person
from launch.service import Service

OPEN = 0.95
"""Share of the streams that is open when all have come: short ones come and go."""
OPENED_WITHIN_S = CATCH_UP_S = 120
READER = (sys.executable, "-m", "lab.running.stream_reader")


class Shown(NamedTuple):
    """What one person's stream showed."""

    person: int
    opened_at: float
    """Unix time of its first event, a gap: later posts are due."""
    gaps: int
    writes: int
    """That had events."""
    events: list[tuple[int, float]]
    """Post ids and Unix times."""


class Streams:
    """Streams of some of the people, and the process that reads them."""

    def __init__(
        self, service: Service, count: int, *options: str, role: str = "readers", url: str = ""
    ) -> None:
        """``options``: further ones of ``lab.running.stream_reader``; ``url``: where to connect,
        if not to the stream itself."""
        self._service, self._count, self._role = service, count, role
        self._file = service.folder / f"{role}.json"
        url = url or f"http://{service.stream_address}"
        where = (f"--url={url}", f"--tokens={service.tokens}", f"--out={self._file}")
        self._command = (*READER, *where, f"--count={count}", *options)

    def open(self) -> None:
        """Open them, and wait until they are. Raises RunFailed."""
        processes, already = self._service.processes, opened(self._service)
        processes.start(self._role, self._command, {})
        processes.wait_until(
            self._role,
            lambda: opened(self._service) >= already + OPEN * self._count,
            within_s=OPENED_WITHIN_S,
        )

    @contextmanager
    def unread(self) -> Iterator[None]:
        """Read nothing while the block runs."""
        self._send(signal.SIGUSR1)
        yield
        self._send(signal.SIGUSR2)

    def end(self) -> list[Shown]:
        """End when nothing comes any more; return what they showed."""
        processes = self._service.processes
        self._send(signal.SIGTERM)
        give_up_at = time.monotonic() + CATCH_UP_S
        while not processes.have_ended(self._role) and time.monotonic() < give_up_at:
            time.sleep(0.1)
        processes.stop(self._role)
        return [Shown(*row) for row in json.loads(self._file.read_text())]

    def _send(self, signal_: signal.Signals) -> None:
        for pid in self._service.processes.pids(self._role):
            os.kill(pid, signal_)


def opened(service: Service) -> int:
    """Return how many streams a service has open."""
    health = f"http://{service.stream_address}/healthz"
    with urllib.request.urlopen(health, timeout=10) as answer:
        return int(json.load(answer)["streams"])


def spread(people: Sequence[Person], count: int) -> list[Person]:
    """Return so many of the people, evenly far apart."""
    return [people[number * len(people) // count] for number in range(count)]


def compare_with(
    accepted: Sequence[Accepted], circles: Mapping[int, frozenset[int]], shown: Sequence[Shown]
) -> tuple[Counter[str], list[tuple[float, float]]]:
    """Compare what streams showed with the accepted posts of their people's circles.

    Returns how many were unseen, seen twice, or not of the circle, and for each post that was due
    on a screen when it was sent and shown, in Unix time; infinity if never.
    """
    by_author: dict[int, list[Accepted]] = defaultdict(list)
    for post in accepted:
        by_author[post.author].append(post)
    authors = {post.id: post.author for post in accepted}
    findings, times = Counter[str](), list[tuple[float, float]]()
    for one in shown:
        circle, at = circles[one.person], dict(reversed(one.events))
        posts = (post for author in circle for post in by_author[author])
        due = [
            (post.sent_at, at.get(post.id, inf)) for post in posts if post.sent_at > one.opened_at
        ]
        times += due
        findings["unseen"] += sum(shown_at == inf for _, shown_at in due)
        findings["seen_twice"] += len(one.events) - len(at)
        findings["foreign"] += sum(authors.get(post, one.person) not in circle for post in at)
    return findings, times

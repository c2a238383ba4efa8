"""Screens: some readers are watched from outside, and when their pages first showed each post."""

import csv
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from math import inf
from pathlib import Path
from typing import NamedTuple

from lab.results import figures
from lab.results.result import Result
from lab.running.threads import repeated
from lab.systems.api import Api, Person, read_people
from launch.processes import RunFailed
from launch.service import Receipt, Service

READERS = 2
LOOK_EVERY_S = 0.2
"""The resolution: a page could have shown a post by so much, and its own time, earlier."""
DEEP_EVERY_S = 1.0
MOST_PAGES = 10
"""Of a deep look, which finds what came late, or faster than the first page is looked at."""
PATIENCE_S = 60.0
"""Of a watched reader with a page, as of k6 and Locust with an answer."""
GRACE_S = 1.0
"""Time after its receipt for which a page may lack a post: that is written before its commit."""
Window = tuple[float, float]
"""Begin and end in Unix time."""
PERCENTILES = ("p50", "p99", "max")


class Look(NamedTuple):
    asked_at: float
    oldest: int
    """The smallest id that its pages showed."""


class Shown(NamedTuple):
    """When a page first showed a post."""

    asked_at: float
    """Of the look with that page."""
    at: float


NEVER = Shown(inf, inf)


class Screen:
    """One reader's feed, looked at again and again."""

    def __init__(self, api: Api, reader: Person) -> None:
        self._api, self._reader = api, reader
        self.authors = {reader.id, *api.authors(reader)}
        self.shown: dict[int, Shown] = {}
        """By the ids of posts."""
        self.looks: list[Look] = []

    def look(self, most_pages: int = 1) -> None:
        """Read the newest page, and older ones until one shows nothing new. Raises RunFailed."""
        asked_at, before = time.time(), None
        for number in range(most_pages):
            posts, is_last = self._api.page(self._reader, before=before)
            new = [post.id for post in posts if post.id not in self.shown]
            shown = Shown(asked_at, time.time())
            for post_id in new:
                self.shown.setdefault(post_id, shown)
            before = posts[-1].id if posts else before
            if is_last or (number and not new):
                break
        if before is not None:
            self.looks.append(Look(asked_at, before))

    def read_all(self) -> None:
        """Read the whole feed. Raises RunFailed."""
        asked_at = time.time()
        for post in self._api.feed(self._reader):
            self.shown.setdefault(post.id, Shown(asked_at, time.time()))
        self.looks.append(Look(asked_at, oldest=0))

    def lacked(self, post_id: int, receipt_at: float) -> bool:
        """Return whether a page that was asked for after a post's receipt lacked it."""
        begin, end = receipt_at + GRACE_S, self.shown.get(post_id, NEVER).asked_at
        if end <= begin:
            return False
        return any(begin < at < end and oldest <= post_id for at, oldest in self.looks)


class Accepted(NamedTuple):
    id: int
    author: int
    sent_at: float


def read_accepted(path: Path) -> list[Accepted]:
    with path.open(newline="") as file:
        return [
            Accepted(int(row["id"]), int(row["author"]), float(row["sent_at"]))
            for row in csv.DictReader(file)
        ]


class Screens:
    """The watched readers of a run."""

    def __init__(self, service: Service) -> None:
        people = read_people(service.tokens)
        api = Api(service.url, PATIENCE_S, follows=service.variant.has_follows)
        apart = len(people) // READERS
        self.screens = [Screen(api, people[1 + number * apart]) for number in range(READERS)]
        self.ended_at = 0.0
        self._has_one_clock = "database" not in service.elsewhere
        self.looks = ExitStack()
        for most_pages, every_s in ((1, LOOK_EVERY_S), (MOST_PAGES, DEEP_EVERY_S)):
            looks = [partial(_look, screen, most_pages) for screen in self.screens]
            self.looks.enter_context(repeated(*looks, every_s=every_s))

    def finish(self) -> None:
        """End the looks, and read each feed to its end. Raises RunFailed."""
        self.looks.close()
        give_up_at = time.monotonic() + PATIENCE_S
        while not self.ended_at:
            try:
                for screen in self.screens:
                    screen.read_all()
                self.ended_at = time.time()
            except RunFailed:  # idle threads may have all of the database's connections
                if time.monotonic() > give_up_at:
                    raise

    def record(
        self, result: Result, accepted: Path, receipts: Sequence[Receipt], window: Window
    ) -> int:
        """Record times to screen; return how often a page lacked a post that had its receipt.

        What was not shown by the end counts as waiting until then.
        """
        start, end = window
        receipt_at = {receipt.post_id: receipt.delivered_at for receipt in receipts}
        took_ms, posts, shown, lacked = list[float](), 0, 0, 0
        for post in read_accepted(accepted):
            for screen in self.screens:
                if post.author not in screen.authors:
                    continue
                posts += 1
                shown += post.id in screen.shown
                delivered_at = receipt_at.get(post.id)
                if delivered_at and self._has_one_clock:
                    lacked += screen.lacked(post.id, delivered_at)
                if start <= post.sent_at < end:
                    shown_at = min(screen.shown.get(post.id, NEVER).at, self.ended_at)
                    took_ms.append((shown_at - post.sent_at) * 1000)
        result.screen_ms = figures.percentiles(took_ms, PERCENTILES)
        result.watched, result.shown = posts, shown / posts if posts else None
        return lacked


def _look(screen: Screen, most_pages: int) -> None:
    with suppress(RunFailed):  # the service is overloaded: what is shown, is shown later
        screen.look(most_pages)


@contextmanager
def watching(service: Service) -> Iterator[Screens]:
    """Watch readers while the block runs."""
    screens = Screens(service)
    with screens.looks:
        yield screens

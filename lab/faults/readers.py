"""Readers who compare every page that they get with the posts that were accepted."""

import random
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from functools import partial
from http.client import HTTPConnection
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from feed.compare import compare
from lab.faults.running import Running, repeated, wait_for
from launch.processes import RunFailed

PENDING = "SELECT count(*) FROM feed_post WHERE delivered_at IS NULL"
LATEST_S = 2.0
"""Age at which an accepted post must be in the feeds, if a drainer delivers."""
CAUGHT_UP_S = 1.0
DELIVERED_WITHIN_S = 20
"""Of posts that were held up; later, pages lack them."""
CELERY_DELIVERED_WITHIN_S = 60
"""A Celery worker needs seconds to start, on a busy machine many."""
PAGES, LIMIT = 8, 100
"""What a reader reads of a feed: some seconds of posts."""
LATELY = 5000
"""Posts of everybody that surely are more than these pages."""


class Wrong(NamedTuple):
    """A feed that was not what the accepted posts say."""

    owner: int
    missing: list[int]
    """Ids of posts, at most five, as in the next two."""
    foreign: list[int]
    """Posts of people who are no friends."""
    gone: list[tuple[int, str]]
    """Posts that a restore of the database took back."""
    length: int
    at: float


class Readers:
    """Read random feeds, and compare each page with the accepted posts of friends."""

    def __init__(self, running: Running, latest_s: float = LATEST_S) -> None:
        """``latest_s``: the age at which an accepted post must be in the feeds."""
        self.running, self.latest_s = running, latest_s
        self.friends: defaultdict[int, set[int]] = defaultdict(set)
        for person, friend in running.rows("SELECT person_id, friend_id FROM accounts_friendship"):
            self.friends[person].add(friend)
        self.pages, self.compared = 0, 0
        self.wrong: list[Wrong] = []
        self.gone: set[tuple[int, str]] = set()
        """Id and time of posts that a restore of the database took back."""
        self.mended_at: float | None = None
        """When a fault that made readers expect less was over."""
        self._changes: defaultdict[int, int] = defaultdict(int)
        """Beginnings and ends of changes of a person's friendships."""
        self._blind_until = 0.0
        self._held_at = float("inf")

    def reading(self, count: int = 2) -> AbstractContextManager[None]:
        """Read while the block runs. Raises RunFailed at its end if a reader failed."""
        return repeated(*(partial(next, self._read_on(number)) for number in range(count)))

    @contextmanager
    def blind(self, more_s: float = 0.0) -> Iterator[None]:
        """Compare no page that was asked for while the block runs, or within ``more_s`` after."""
        self._blind_until = float("inf")
        yield
        self.mended_at = time.monotonic()
        self._blind_until = self.mended_at + more_s

    @contextmanager
    def held_up(self) -> Iterator[None]:
        """Expect the posts that are accepted while the block runs when a drainer is back."""
        self._held_at = time.monotonic()
        yield
        self.mended_at = time.monotonic()
        by_celery = self.running.service.variant.uses_celery
        within_s = CELERY_DELIVERED_WITHIN_S if by_celery else DELIVERED_WITHIN_S
        with suppress(RunFailed):  # else pages lack them
            wait_for(self._has_caught_up, within_s)
        time.sleep(self.latest_s)
        self._held_at = float("inf")

    def _has_caught_up(self) -> bool:
        """Return whether all posts but those of the last second are delivered."""
        before = time.monotonic() - CAUGHT_UP_S
        due = (post["id"] for at, post in self.running.accepted[-LATELY:] if at < before)
        return self.running.query(f"{PENDING} AND id <= {max(due, default=0)}") == 0

    def unfriend(self, http: HTTPConnection, one: int, other: int) -> None:
        with self._changing(one, other):
            self._change("DELETE", http, one, other, 204)
            self.friends[one].discard(other)
            self.friends[other].discard(one)

    def befriend(self, http: HTTPConnection, one: int, other: int) -> None:
        with self._changing(one, other):
            self._change("PUT", http, one, other, 202)
            self._change("PUT", http, other, one, 204)
            self.friends[one].add(other)
            self.friends[other].add(one)

    def delete(self, http: HTTPConnection, post: dict[str, Any]) -> None:
        """Delete a post; no page that is asked for from then on may show it."""
        author, post_id = post["author"], post["id"]
        with self._changing(author, *self.friends[author]):
            status = None
            while status not in (204, 404):  # 404: the request before, which was refused, did it
                status, _ = request(http, self.running, author, "DELETE", f"/v1/posts/{post_id}/")
            self.gone.add((post_id, post["created_at"]))

    @contextmanager
    def _changing(self, *people: int) -> Iterator[None]:
        """Compare no page of these people that was being read in the block."""
        for person in people:
            self._changes[person] += 1
        yield
        for person in people:
            self._changes[person] += 1

    def _change(self, method: str, http: HTTPConnection, one: int, other: int, due: int) -> None:
        status, _ = request(http, self.running, one, method, f"/v1/me/friends/{other}/")
        if status != due:
            raise RunFailed(f"{method} of a friendship: {status} instead of {due}")

    def _read_on(self, number: int) -> Iterator[None]:
        """Read a random feed per step, each on a connection that may meet another process."""
        rng = random.Random(number)  # noqa: S311
        while True:
            with closing(self.running.connection()) as http:
                self.read(http, rng.randint(1, len(self.running.tokens)))
            yield

    def read(self, http: HTTPConnection, owner: int) -> int | None:
        """Read the first pages of a feed and compare them; return the last status."""
        asked_at, end = time.monotonic(), 0
        posts: list[dict[str, Any]] = []
        due_at = min(asked_at, self._held_at) - self.latest_s
        changes = self._changes[owner]
        seeing = asked_at > self._blind_until and changes % 2 == 0
        for _ in range(PAGES):
            path = f"/v1/feed/?limit={LIMIT}" + (f"&before={end}" if end else "")
            status, page = request(http, self.running, owner, "GET", path)
            if status != 200:
                return status
            self.pages += 1
            posts += page["posts"]
            end = int(parse_qs(urlsplit(page["next"]).query)["before"][0]) if page["next"] else 0
            if not end:
                break
        if seeing and time.monotonic() > self._blind_until and changes == self._changes[owner]:
            self._compare(owner, due_at, posts, end)
        return status

    def _compare(self, owner: int, due_at: float, posts: list[dict[str, Any]], end: int) -> None:
        friends = self.friends[owner] | {owner}
        ids = [post["id"] for post in posts]
        must = {
            post["id"]
            for at, post in self.running.accepted[-LATELY:]
            if at < due_at and post["author"] in friends and post["id"] >= end
        }
        self.compared += len(must)
        missing = compare(must, ids).missing.tolist()
        foreign = [post["id"] for post in posts if post["author"] not in friends]
        gone = self.gone & {(post["id"], post["created_at"]) for post in posts}
        if missing or foreign or gone or ids != sorted(set(ids), reverse=True):
            found = missing[:5], foreign[:5], sorted(gone)[:5]
            self.wrong.append(Wrong(owner, *found, len(ids), time.monotonic()))


def request(
    http: HTTPConnection, running: Running, person: int, method: str, path: str
) -> tuple[int | None, Any]:
    """Ask, again on a new connection if the server has closed this one.

    A server that stops closes kept connections, and may take a new one that it doesn't answer.
    """
    for _ in range(3):
        status, body = running.ask(http, running.tokens[person - 1], method, path, None)
        if status is not None:
            return status, body
    return None, None

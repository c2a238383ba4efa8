"""Readers who compare every page that they get with the posts that were accepted."""

import random
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from http.client import HTTPConnection
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from feed.compare import compare
from lab.faults.databases import ERRORS
from lab.faults.running import Running
from lab.running.threads import repeated
from launch.processes import RunFailed

PENDING = "SELECT count(*) FROM feed_post WHERE delivered_at IS NULL"
PENDING_IDS = "SELECT id FROM feed_post WHERE delivered_at IS NULL"
LOOK_EVERY_S = 0.1
LOOKS = 1000
"""That are kept: more than a moment takes."""
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


class Look(NamedTuple):
    """What the database said of receipts."""

    at: float
    """Posts that were accepted before are in it."""
    pending: frozenset[int]
    """Ids of posts without a receipt."""


NOTHING_KNOWN = Look(0.0, frozenset())


class Known(NamedTuple):
    """What decides about a feed, as it was before it was asked for."""

    owner: int
    look: Look
    authors: frozenset[int]
    gone: frozenset[tuple[int, str]]


class Readers:
    """Read random feeds, and compare each page with what is due there and has a receipt."""

    def __init__(self, running: Running, grace_s: float = 0.0) -> None:
        """``grace_s``: how long after its receipt a post may be missing."""
        self.running, self.grace_s = running, grace_s
        self.looks: tuple[Look, ...] = (NOTHING_KNOWN,)
        self.authors: defaultdict[int, set[int]] = defaultdict(set)
        """Whom each person reads."""
        for author, reader in running.rows("SELECT author_id, reader_id FROM accounts_follow"):
            self.authors[reader].add(author)
        self.pages, self.compared = 0, 0
        self.wrong: list[Wrong] = []
        self.gone: set[tuple[int, str]] = set()
        """Id and time of posts that a restore of the database took back."""
        self._compared_with = NOTHING_KNOWN
        self._changes: defaultdict[int, int] = defaultdict(int)
        """Beginnings and ends of changes of whom a person reads."""
        self._blind_until = 0.0
        self._have_follows = running.service.variant.has_follows

    @contextmanager
    def reading(self, count: int = 2) -> Iterator[None]:
        """Read while the block runs. Raises RunFailed at its end if a reader failed."""
        reads = [partial(next, self._read_on(number)) for number in range(count)]
        with repeated(self.look, every_s=LOOK_EVERY_S), repeated(*reads):
            yield

    def look(self) -> None:
        """Note which posts have no receipt, unless the database is away."""
        at = time.monotonic()
        with suppress(*ERRORS):
            pending = frozenset(post_id for (post_id,) in self.running.rows(PENDING_IDS))
            self.looks = (*self.looks[-LOOKS:], Look(at, pending))

    def have_compared(self, before: float) -> bool:
        """Return whether a page was compared that must show what was accepted before a time."""
        look, due = self._compared_with, self._accepted_before(before)
        return look.at >= before and look.pending.isdisjoint(post_id for post_id, _ in due)

    def _accepted_before(self, time_: float) -> list[tuple[int, int]]:
        """Return id and author of the latest posts that were accepted before a time."""
        lately = self.running.accepted[-LATELY:]
        return [(post["id"], post["author"]) for at, post in lately if at < time_]

    @contextmanager
    def blind(self, more_s: float = 0.0) -> Iterator[None]:
        """Compare no page that was asked for while the block runs, or within ``more_s`` after."""
        self._blind_until = float("inf")
        yield
        self._blind_until = time.monotonic() + more_s

    def reader_of(self, author: int) -> int:
        """Return one of an author's readers. Raises ValueError without any."""
        return min(reader for reader, authors in self.authors.items() if author in authors)

    def leave(self, http: HTTPConnection, reader: int, author: int) -> None:
        """Let a reader end a friendship with an author, or unfollow them."""
        with self._changing(reader, author):
            self._change("DELETE", http, reader, author, 204)
            self.authors[reader].discard(author)
            if not self._have_follows:
                self.authors[author].discard(reader)

    def join(self, http: HTTPConnection, reader: int, author: int) -> None:
        """Let a reader and an author be friends, or the reader follow them."""
        with self._changing(reader, author):
            self._change("PUT", http, reader, author, 204 if self._have_follows else 202)
            self.authors[reader].add(author)
            if not self._have_follows:
                self._change("PUT", http, author, reader, 204)
                self.authors[author].add(reader)

    def delete(self, http: HTTPConnection, post: dict[str, Any]) -> None:
        """Delete a post; no page that is asked for from then on may show it."""
        author, post_id, status = post["author"], post["id"], None
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
        name = "following" if self._have_follows else "friends"
        status, _ = request(http, self.running, one, method, f"/v1/me/{name}/{other}/")
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
        changes = self._changes[owner]
        asked_at, end = time.monotonic(), 0
        posts: list[dict[str, Any]] = []
        before = asked_at - self.grace_s
        look = next(look for look in reversed(self.looks) if look.at <= before)
        known = Known(owner, look, frozenset(self.authors[owner] | {owner}), frozenset(self.gone))
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
        if changes % 2 or changes != self._changes[owner]:
            return status
        if asked_at > self._blind_until and time.monotonic() > self._blind_until:
            self._compare(known, posts, end)
        return status

    def _compare(self, known: Known, posts: list[dict[str, Any]], end: int) -> None:
        look, authors = known.look, known.authors
        ids = [post["id"] for post in posts]
        must = {
            post_id
            for post_id, author in self._accepted_before(look.at)
            if post_id not in look.pending and author in authors and post_id >= end
        }
        self.compared += len(must)
        if must:
            self._compared_with = look
        missing = compare(must, ids).missing.tolist()
        foreign = [post["id"] for post in posts if post["author"] not in authors]
        gone = known.gone & {(post["id"], post["created_at"]) for post in posts}
        if missing or foreign or gone or ids != sorted(set(ids), reverse=True):
            found = missing[:5], foreign[:5], sorted(gone)[:5]
            self.wrong.append(Wrong(known.owner, *found, len(ids), time.monotonic()))


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

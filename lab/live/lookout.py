"""Looks for accepted posts in the feeds of their authors' friends, as any reader could.

Two samples: one *watched* post at a time in up to CELLS feeds, and a few of all accepted posts,
each in one feed: the audit. A look asks for one page that begins with the post.
"""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from lab.systems.api import Person
from locustfiles.connections import Answer, Request
from locustfiles.open_load import FEED, head, refusal

CELLS = 100
"""Most feeds in which the watched post is looked for."""
FIRST_ROUND_S, ROUND_EVERY_S = 0.5, 2.0
"""Age of the watched post at the first round of looks, and the time to the next one."""
WATCH_S = (4.0, 30.0)
"""For how long a post is watched that is settled, and any."""
SAMPLES_PER_S = 5
MOST_PENDING = 200
DUE_S = 5.0
"""A post that is so much older than the oldest in the backlog has to be in the feeds: the service
tells its backlog as of the last second, and later where counting it takes long."""
AGAIN_S = 2.0
"""Time after which a look of the audit that wasn't answered is repeated."""
UNSTEADY = {1, 2}
"""People whose friendships the laboratory's faults end."""


class Post(NamedTuple):
    id: int
    author: int
    accepted_at: float


class Look:
    """A post that is looked for in one feed."""

    def __init__(self, post: Post, friend: Person) -> None:
        self.post, self.friend = post, friend
        self.is_there: bool | None = None
        """What the latest page said; None: no page yet."""
        self.found_s: float | None = None
        """Age of the post when it was first looked for and found."""
        self.asked_at = 0.0

    def request(self, host: str, asked_at: float) -> Request:
        self.asked_at = asked_at
        path = f"{FEED}?limit=2&before={self.post.id + 1}"
        data = head("GET", path, host, self.friend.token)
        return Request("GET", "look", data, partial(self._see, asked_at))

    def _see(self, asked_at: float, answer: Answer) -> str:
        if refused := refusal(answer):
            return refused
        posts = json.loads(answer.body)["posts"]
        shown = [(post["id"], post["author"]) for post in posts]
        self.is_there = shown.count((self.post.id, self.post.author)) == 1
        if self.is_there and self.found_s is None:
            self.found_s = asked_at - self.post.accepted_at
        return ""


class Watched:
    """The looks for one post, in rounds until it is everywhere or has to be."""

    def __init__(self, post: Post, looks: Sequence[Look]) -> None:
        self.post, self.looks = post, looks
        self.is_settled = False
        self._next_at = post.accepted_at + FIRST_ROUND_S
        self._is_last = False

    def round(self, now: float, delivered_until: float) -> Sequence[Look]:
        """Return the looks that are due now, if it is time for a round."""
        if self.is_settled or now < self._next_at:
            return ()
        if self._is_last or all(look.is_there for look in self.looks):
            self.is_settled = True
            return ()
        self._is_last = self.post.accepted_at < delivered_until
        self._next_at = now + ROUND_EVERY_S
        return self.looks

    def shown(self) -> list[float | None]:
        """Return by feed how old the post was when it was found; None: it isn't there."""
        return [look.found_s if look.is_there else None for look in self.looks]


class Lookout:
    def __init__(self, people: Sequence[Person], friends: int, host: str) -> None:
        """``people``: on a ring; each is a friend of the ``friends`` nearest ones."""
        self._people, self._host = people, host
        self._reach = min(friends // 2, (len(people) - 1) // 2)
        self._positions = {reader.id: number for number, reader in enumerate(people)}
        self._watched: Watched | None = None
        self._settled: list[float | None] = []
        self._pending: list[Look] = []
        self._found = self._missing = 0
        self._sampled_at = 0.0
        self._delivered_until = 0.0

    def accepted(self, post: Post) -> None:
        """Take a post into the samples, if it is time for one."""
        now = post.accepted_at
        if self._wants_to_watch(now):
            self._watched = Watched(post, self._looks(post, CELLS))
        if now >= self._sampled_at + 1 / SAMPLES_PER_S and len(self._pending) < MOST_PENDING:
            self._sampled_at = now
            self._pending += self._looks(post, 1)

    def backlog(self, asked_at: float, backlog: Mapping[str, Any]) -> None:
        """Note which posts have been delivered, as the service says."""
        self._delivered_until = asked_at - (backlog["oldest_age_s"] or 0.0) - DUE_S

    def requests(self, start: float, seconds: float) -> Iterator[tuple[float, Request]]:
        """Yield the looks of a step, with the times when they are due."""
        self._judge()
        looks = [*self._due_of_audit(start)]
        if self._watched:
            looks += self._watched.round(start, self._delivered_until)
            if self._watched.is_settled:
                self._settled = self._watched.shown()
        for number, look in enumerate(looks):
            due = start + seconds * number / len(looks)
            yield due, look.request(self._host, due)

    def figures(self) -> dict[str, Any]:
        audit = {"found": self._found, "missing": self._missing, "pending": len(self._pending)}
        watched = self._watched.shown() if self._watched else []
        return {"watched": watched, "settled": self._settled, "audit": audit}

    def _due_of_audit(self, now: float) -> list[Look]:
        """Return the looks for posts that have to be there by now."""
        return [
            look
            for look in self._pending
            if look.post.accepted_at < self._delivered_until and look.asked_at < now - AGAIN_S
        ]

    def _judge(self) -> None:
        self._found += sum(look.is_there is True for look in self._pending)
        self._missing += sum(look.is_there is False for look in self._pending)
        self._pending = [look for look in self._pending if look.is_there is None]

    def _wants_to_watch(self, now: float) -> bool:
        if self._watched is None:
            return True
        age = now - self._watched.post.accepted_at
        return age >= WATCH_S[not self._watched.is_settled]

    def _looks(self, post: Post, most: int) -> list[Look]:
        """Return a look in the feed of each of some friends of the author, in the ring's order."""
        steps = [step for step in range(-self._reach, self._reach + 1) if step]
        author = self._positions[post.author]
        chosen = sorted(random.sample(steps, min(most, len(steps))))
        friends = [self._people[(author + step) % len(self._people)] for step in chosen]
        steady = [f for f in friends if not UNSTEADY.issuperset({f.id, post.author})]
        return [Look(post, friend) for friend in steady]

"""What streams are told: read from the database, all in one thread."""

import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

import numpy as np
from rest_framework_simplejwt.exceptions import InvalidToken

from accounts import revocations
from accounts.authentication import TokenPerson, by_token
from accounts.models import Person
from feed.hydration import hydrate
from feed.journal import Journal, Position
from feed.recipients import Ids, circles_of

POST = b"id: %b\nevent: post\ndata: %b\n\n"
GONE = b'id: %b\nevent: gone\ndata: {"id":%d}\n\n'
GAP = b"id: %b\nevent: gap\ndata: {}\n\n"
MOST_RESUMED = 1000
"""Events that a stream resumes with; with more to tell it gets a gap."""

RESUMING_S = 0.05
"""Time for those who are behind, per look: what is read too early is not sent any more."""

Claims = Mapping[str, Any]


class Admitted(NamedTuple):
    person_id: int
    claims: Claims


class Behind(NamedTuple):
    """A stream that was told the news up to a position only."""

    person_id: int
    position: Position


class Told(NamedTuple):
    read_at: float
    """Monotonic time: who reads whom was read after it."""
    end: Position
    """Up to where everybody is told the news with this."""
    current: dict[int, bytes] | None
    """By person, the events of the streams that were told all before; None: they get a gap."""
    behind: list[bytes]
    """Of the streams that were behind, those that there was time for."""
    changed: set[int]
    """People who may read others by now: they get a gap."""


class Circles:
    """Who listens to whom: the circles of some people, each those whom they read and themselves."""

    def __init__(self) -> None:
        self._circles: dict[int, Ids] = {}
        self._versions: dict[int, int | None] = {}
        self._listeners: dict[int, list[int]] = defaultdict(list)

    def follow(self, people: AbstractSet[int]) -> None:
        """Be about exactly these people."""
        self._forget(self._circles.keys() - people)
        if new := people - self._circles.keys():
            self._versions |= _versions(new)  # before their circles
            for person_id, circle in circles_of(new).items():
                self._circles[person_id] = circle
                for author_id in circle.tolist():
                    self._listeners[author_id].append(person_id)

    def of(self, person_id: int) -> Ids:
        return self._circles[person_id]

    def listeners(self, author_id: int) -> Sequence[int]:
        """Return those of the people whose circle an author is in."""
        return self._listeners.get(author_id, ())

    def take_changed(self, people: AbstractSet[int]) -> set[int]:
        """Return those of the people whose circles may have changed, and forget these."""
        people = people & self._circles.keys()
        versions = _versions(people)
        changed = {one for one in people if versions.get(one) != self._versions.get(one)}
        self._forget(changed)
        return changed

    def _forget(self, people: AbstractSet[int]) -> None:
        for person_id in people:
            self._versions.pop(person_id, None)
            for author_id in self._circles.pop(person_id).tolist():
                self._listeners[author_id].remove(person_id)
                if not self._listeners[author_id]:
                    del self._listeners[author_id]


class Reading:
    """The journal, and what it means to the people who listen."""

    def __init__(self) -> None:
        self._journal = Journal()
        self._journal.look()
        self._circles = Circles()
        self.end = self._journal.end

    def admit(self, tokens: Sequence[bytes]) -> list[Admitted | None]:
        """Return whom each access token names; None for an invalid one."""
        people = [_authenticated(token) for token in tokens]
        return [Admitted(person.id, person.token.payload) if person else None for person in people]

    def read(self, listening: AbstractSet[int], behind: Sequence[Behind]) -> Told:
        """Look for news.

        ``listening``: the people whose streams were told all news before.
        """
        self._circles.follow(listening | {one.person_id for one in behind})
        self._journal.look()
        begin = self._journal.row(self.end)
        begins = [self._journal.row(one.position) for one in behind]
        events = _Events(self._journal, (begin, *begins))
        current = {} if begin is None else self._due(events.authors(begin), begin, listening)
        lacking = list(self._lacking(events, behind, begins))
        events.make({row for rows in (*current.values(), *lacking) for row in rows or ()})
        read_at = time.monotonic()
        told = {*current, *(one.person_id for one in behind[: len(lacking)])}
        changed = self._circles.take_changed(told)
        gap = GAP % str(self._journal.end).encode()
        self.end = self._journal.end
        return Told(
            read_at,
            self.end,
            None if begin is None else {one: events.text(rows) for one, rows in current.items()},
            [gap if rows is None else events.text(rows) for rows in lacking],
            changed,
        )

    def changed(self, people: AbstractSet[int]) -> set[int]:
        """Return those of the people who may read others since this was told last."""
        return self._circles.take_changed(people)

    def _due(
        self, authors: Sequence[int], begin: int, listening: AbstractSet[int]
    ) -> dict[int, list[int]]:
        """Return by person the rows that those who listen are told, of news from a row on."""
        due: dict[int, list[int]] = defaultdict(list)
        for row, author_id in enumerate(authors, begin):
            for person_id in self._circles.listeners(author_id):
                due[person_id].append(row)
        return {person_id: rows for person_id, rows in due.items() if person_id in listening}

    def _lacking(
        self, events: "_Events", behind: Sequence[Behind], begins: Sequence[int | None]
    ) -> Iterator[list[int] | None]:
        """Yield the rows that each stream lacks, as long as there is time.

        None if it is unknown which, or if they are too many.
        """
        until = time.monotonic() + RESUMING_S
        for one, begin in zip(behind, begins, strict=True):
            circle = self._circles.of(one.person_id)
            rows = None if begin is None else events.rows(begin, circle)
            yield None if rows is None or len(rows) > MOST_RESUMED else rows
            if time.monotonic() > until:
                return


class _Events:
    """The news from the first of some rows on, each as one text for all who are told it."""

    def __init__(self, journal: Journal, rows: Sequence[int | None]) -> None:
        self._journal = journal
        self._first = min((row for row in rows if row is not None), default=0)
        self._news = journal.news(self._first)
        self._texts: dict[int, bytes] = {}

    def authors(self, begin: int) -> list[int]:
        """Return the authors of the rows from this one on."""
        found: list[int] = self._news[begin - self._first :, 1].tolist()
        return found

    def rows(self, begin: int, circle: Ids) -> list[int]:
        """Return the rows of a circle from this one on."""
        authors = self._news[begin - self._first :, 1]
        found: list[int] = (np.flatnonzero(np.isin(authors, circle)) + begin).tolist()
        return found

    def make(self, rows: Iterable[int]) -> None:
        """Make the texts of these rows; none for a post that was deleted since."""
        ids = {row: int(self._news[row - self._first, 0]) for row in rows}
        posts = hydrate([post_id for post_id in ids.values() if post_id > 0])
        for row, post_id in ids.items():
            position = str(self._journal.position(row)).encode()
            if post_id < 0:
                self._texts[row] = GONE % (position, -post_id)
            elif post_id in posts:
                self._texts[row] = POST % (position, posts[post_id])

    def text(self, rows: Iterable[int]) -> bytes:
        return b"".join(self._texts.get(row, b"") for row in rows)


def are_valid(streams: Sequence[tuple[int, Claims]]) -> list[bool]:
    """Tell for each person's token whether it is still valid."""
    now = time.time()
    return [
        claims["exp"] > now and revocations.is_valid(person_id, dict(claims))
        for person_id, claims in streams
    ]


def _versions(person_ids: Collection[int]) -> dict[int, int | None]:
    people = Person.objects.filter(id__in=person_ids)
    return dict(people.values_list("id", "friends_version"))


def _authenticated(token: bytes) -> TokenPerson | None:
    try:
        return by_token().get_user(by_token().get_validated_token(token))
    except InvalidToken:
        return None

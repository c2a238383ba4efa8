"""What streams are told: read from the database, all in one thread."""

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from rest_framework_simplejwt.exceptions import InvalidToken

from accounts import revocations
from accounts.authentication import TokenPerson, by_token
from accounts.models import Person
from feed.hydration import hydrate
from feed.journal import TRUST_S, Journal, Position
from feed.recipients import Ids, circles_of

POST = b"id: %b\nevent: post\ndata: %b\n\n"
GONE = b'id: %b\nevent: gone\ndata: {"id":%d}\n\n'
GAP = b"id: %b\nevent: gap\ndata: {}\n\n"
MOST_RESUMED = 1000
"""Events that a stream resumes with; with more to tell it gets a gap."""

Claims = Mapping[str, Any]


class Admitted(NamedTuple):
    person_id: int
    claims: Claims
    friends_version: int | None


class Behind(NamedTuple):
    """A stream that was told the news up to a position only."""

    person_id: int
    position: Position


class Told(NamedTuple):
    read_at: float
    """Monotonic time: who is whose friend was read after it."""
    end: Position
    """Up to where everybody is told the news with this."""
    current: dict[int, bytes] | None
    """By person, the events of the streams that were told all before; None: they get a gap."""
    behind: list[bytes]
    """Of the streams that were behind, those that there was time for."""


class Reading:
    """The journal, and what it means to the people who listen."""

    def __init__(self) -> None:
        self._journal = Journal()
        self._journal.look()
        self.end = self._journal.end

    def admit(self, tokens: Sequence[bytes]) -> list[Admitted | None]:
        """Return whom each access token names; None for an invalid one."""
        people = [_authenticated(token) for token in tokens]
        versions = friends_versions([person.id for person in people if person])
        return [
            Admitted(person.id, person.token.payload, versions.get(person.id)) if person else None
            for person in people
        ]

    def read(self, listening: Ids, behind: Sequence[Behind]) -> Told:
        """Look for news.

        ``listening``: the people, ascending, whose streams were told all news before.
        """
        self._journal.look()
        begin = self._journal.row(self.end)
        begins = [self._journal.row(one.position) for one in behind]
        events = _Events(self._journal, (begin, *begins))
        if begin is not None and len(listening):
            events.make(events.since(begin))
        events.make(row for rows in events.lacking(behind, begins) for row in rows or ())
        read_at = time.monotonic()
        current = None if begin is None else events.for_listening(listening, begin)
        gap, resumed = GAP % str(self._journal.end).encode(), list[bytes]()
        for rows in events.lacking(behind, begins):
            resumed.append(gap if rows is None else events.text(rows))
            if time.monotonic() > read_at + TRUST_S / 2:
                break  # else it could not be sent in time
        self.end = self._journal.end
        return Told(read_at, self.end, current, resumed)


class _Events:
    """The news from the first of some rows on, each as one text for all who are told it."""

    def __init__(self, journal: Journal, rows: Sequence[int | None]) -> None:
        self._journal = journal
        self._first = min((row for row in rows if row is not None), default=0)
        self._news = journal.news(self._first)
        self._texts: dict[int, bytes] = {}

    def since(self, row: int) -> range:
        """Return the rows from this one on."""
        return range(row, self._first + len(self._news))

    def lacking(
        self, behind: Sequence[Behind], begins: Sequence[int | None]
    ) -> Iterator[list[int] | None]:
        """Yield for each stream the rows from its begin on of its person's friends, and own.

        None if the begin isn't known, and if the rows are too many.
        """
        circles = circles_of({one.person_id for one in behind})
        for one, begin in zip(behind, begins, strict=True):
            rows = None
            if begin is not None:
                authors = self._news[begin - self._first :, 1]
                rows = (np.flatnonzero(np.isin(authors, circles[one.person_id])) + begin).tolist()
            yield None if rows is None or len(rows) > MOST_RESUMED else rows

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

    def for_listening(self, listening: Ids, begin: int) -> dict[int, bytes]:
        """Return the texts from a row on, by person who listens."""
        told: dict[int, list[int]] = defaultdict(list)
        authors = self._news[begin - self._first :, 1].tolist() if len(listening) else []
        circles = circles_of(set(authors))
        readers = {author_id: _among(circle, listening) for author_id, circle in circles.items()}
        for row, author_id in enumerate(authors, begin):
            for person_id in readers[author_id]:
                told[person_id].append(row)
        return {person_id: self.text(rows) for person_id, rows in told.items()}


def are_valid(streams: Sequence[tuple[int, Claims]]) -> list[bool]:
    """Tell for each person's token whether it is still valid."""
    now = time.time()
    return [
        claims["exp"] > now and revocations.is_valid(person_id, dict(claims))
        for person_id, claims in streams
    ]


def friends_versions(person_ids: Sequence[int]) -> dict[int, int | None]:
    """Return what changes with the friends of these people."""
    people = Person.objects.filter(id__in=person_ids)
    return dict(people.values_list("id", "friends_version"))


def _authenticated(token: bytes) -> TokenPerson | None:
    try:
        return by_token().get_user(by_token().get_validated_token(token))
    except InvalidToken:
        return None


def _among(circle: Ids, listening: Ids) -> list[int]:
    at = np.searchsorted(listening, circle) % len(listening)
    found: list[int] = circle[listening[at] == circle].tolist()
    return found

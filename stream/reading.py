"""What streams are told: read from the database, all in one thread."""

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from rest_framework_simplejwt.exceptions import InvalidToken

from accounts import revocations
from accounts.authentication import TokenPerson, by_token
from accounts.models import Person
from feed.hydration import hydrate
from feed.journal import Journal, Later, Position
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
    """Of each stream that was behind."""


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
        later = self._journal.since(self.end)
        lacking = [self._journal.since(one.position) for one in behind]
        posts = hydrate(_post_ids(later.news[:, 0])) if later and len(listening) else {}
        posts_behind = hydrate(_lacked(behind, lacking)) if behind else {}
        read_at = time.monotonic()
        current = None if later is None else _for_listening(later, listening, posts)
        resumed = self._resumed(behind, lacking, posts_behind)
        self.end = self._journal.end
        return Told(read_at, self.end, current, resumed)

    def _resumed(
        self,
        behind: Sequence[Behind],
        lacking: Sequence[Later | None],
        posts: Mapping[int, bytes],
    ) -> list[bytes]:
        """Return the events that each stream lacks, or a gap."""
        gap = GAP % str(self._journal.end).encode()
        circles = circles_of({one.person_id for one in behind})
        return [
            gap if later is None else _events(later, circles[one.person_id], posts, gap)
            for one, later in zip(behind, lacking, strict=True)
        ]


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


def _for_listening(later: Later, listening: Ids, posts: Mapping[int, bytes]) -> dict[int, bytes]:
    told: dict[int, list[bytes]] = defaultdict(list)
    news = later.news.tolist() if len(listening) else []
    circles = circles_of({author_id for _, author_id in news})
    readers = {author_id: _among(circle, listening) for author_id, circle in circles.items()}
    for row, (post_id, author_id) in enumerate(news):
        if readers[author_id] and (event := _event(later, row, post_id, posts)):
            for person_id in readers[author_id]:
                told[person_id].append(event)
    return {person_id: b"".join(events) for person_id, events in told.items()}


def _among(circle: Ids, listening: Ids) -> list[int]:
    at = np.searchsorted(listening, circle) % len(listening)
    found: list[int] = circle[listening[at] == circle].tolist()
    return found


def _rows_of(later: Later, circle: Ids) -> tuple[Ids, Ids]:
    """Return the rows of the news of a person's friends and own, and their post ids."""
    rows = np.flatnonzero(np.isin(later.news[:, 1], circle))
    return rows, later.news[rows, 0]


def _lacked(behind: Sequence[Behind], lacking: Sequence[Later | None]) -> list[int]:
    """Return the posts that streams lack, as far as friends are the same when they are told."""
    circles = circles_of({one.person_id for one in behind})
    pairs = [(later, circles[one.person_id]) for one, later in zip(behind, lacking, strict=True)]
    ids = [_rows_of(later, circle)[1] for later, circle in pairs if later]
    return _post_ids(np.unique(np.concatenate(ids))) if ids else []


def _events(later: Later, circle: Ids, posts: Mapping[int, bytes], gap: bytes) -> bytes:
    rows, ids = _rows_of(later, circle)
    if len(rows) > MOST_RESUMED:
        return gap
    pairs = zip(rows.tolist(), ids.tolist(), strict=True)
    return b"".join(_event(later, row, post_id, posts) for row, post_id in pairs)


def _event(later: Later, row: int, post_id: int, posts: Mapping[int, bytes]) -> bytes:
    """Return the text of an event; none for a post that was deleted since."""
    position = str(later.position(row)).encode()
    if post_id < 0:
        return GONE % (position, -post_id)
    return POST % (position, posts[post_id]) if post_id in posts else b""


def _post_ids(ids: Ids) -> list[int]:
    """Return those of the ids that are not of deletions."""
    found: list[int] = ids[ids > 0].tolist()
    return found

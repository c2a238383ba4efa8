"""Recipients of posts: of one, of many for stores outside the database, and how many they are."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date
from threading import Lock
from typing import Any

import numpy as np
from django.db.models import Aggregate, Count, QuerySet, Sum, TextField
from numpy.typing import NDArray

from accounts.models import Follow, Person
from feed.celebrities import deliverable
from feed.models import Post
from feed.readers import delivered_since
from runtime.remembered import Remembered

Ids = NDArray[np.int64]
Deliveries = Sequence[tuple[int, Ids]]
"""Post ids, each with the owners of the timelines that it is due in."""
Version = tuple[int, date | None] | None
"""Of the readers that an author's posts are delivered to; None: they may not be cached."""

MAX_CACHED_IDS = 4_000_000
"""Per-process cache limit: 32 MB."""
ENTRY_IDS = 40
"""What an author takes besides the ids, measured in ids."""


class ReaderCounts:
    """Numbers of readers who are delivered to, cached: counting them each time is expensive.

    So counts of deliveries may miss readers of the last ``keep_s`` seconds.
    """

    def __init__(self, keep_s: float = 60.0) -> None:
        self._counts = Remembered(dict[int, int], for_s=keep_s)

    def of(self, person_ids: Iterable[int]) -> dict[int, int]:
        """Return these numbers, of at least these persons."""
        known = self._counts.get()
        if unknown := set(person_ids) - known.keys():
            counted = deliverable().filter(author_id__in=unknown).values_list("author_id")
            known.update(dict.fromkeys(unknown, 0) | dict(counted.annotate(Count("reader_id"))))
        return known


class _Joined(Aggregate):
    function = "GROUP_CONCAT"
    output_field = TextField()

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = "STRING_AGG(%(expressions)s::text, ',')"
        return self.as_sql(compiler, connection, template=template, **context)


def owners_of(post: Post) -> list[int]:
    """Return the owners of the timelines that a post is delivered to, its author first."""
    readers = deliverable().filter(author_id=post.author_id).values_list("reader_id", flat=True)
    return [post.author_id, *readers]


def deliveries_of(posts: Sequence[Post]) -> Deliveries:
    return list(zip((post.id for post in posts), recipients_of(posts), strict=True))


def recipients_of(posts: Sequence[Post]) -> list[Ids]:
    """Return for each post the owners of the timelines that it is due in, its author first.

    They are current, in any transaction.
    """
    owners = _delivered.of({post.author_id for post in posts})
    return [owners[post.author_id] for post in posts]


def circles_of(person_ids: AbstractSet[int]) -> dict[int, Ids]:
    """Return each person with all whom they read."""
    return _authors.of(person_ids)


def _versions(author_ids: Iterable[int]) -> dict[int, Version]:
    people, since = Person.objects.filter(id__in=author_ids), delivered_since()
    return {
        author_id: None if version is None else (version, since)
        for author_id, version in people.values_list("id", "friends_version")
    }


class _Cached:
    """Who is at the other end of people's follows, by person and version.

    The oldest are evicted beyond ``MAX_CACHED_IDS``.
    """

    def __init__(self, follows: Callable[[], QuerySet[Follow]], near: str, far: str) -> None:
        self._follows = follows
        self._near, self._far = near, far
        self._others: dict[int, tuple[Version, Ids]] = {}
        self._ids = 0
        self._lock = Lock()

    def of(self, person_ids: AbstractSet[int]) -> dict[int, Ids]:
        """Return the others, each person first.

        One query reads the versions of all people, another the others that are not cached at
        these versions.
        """
        versions = _versions(person_ids)
        others = self.get(versions)
        if unknown := person_ids - others.keys():
            found = _with_themselves(unknown, self._find(unknown))
            self.put(found, versions)
            others |= found
        return others

    def get(self, versions: Mapping[int, Version]) -> dict[int, Ids]:
        """Return the others cached at exactly these versions."""
        known = self._others
        return {
            person_id: entry[1]
            for person_id, version in versions.items()
            if (entry := known.get(person_id)) and entry[0] == version
        }

    def put(self, others: Mapping[int, Ids], versions: Mapping[int, Version]) -> None:
        """Cache others read after their version: if they are newer, the version has changed too."""
        with self._lock:
            for person_id, ids in others.items():
                version = versions.get(person_id)
                if version is not None:
                    self._forget(person_id)
                    ids.setflags(write=False)
                    self._others[person_id] = (version, ids)
                    self._ids += ENTRY_IDS + len(ids)
            while self._ids > MAX_CACHED_IDS:
                self._forget(next(iter(self._others)))

    def _forget(self, person_id: int) -> None:
        if person_id in self._others:
            _, ids = self._others.pop(person_id)
            self._ids -= ENTRY_IDS + len(ids)

    def _find(self, person_ids: Iterable[int]) -> dict[int, Ids]:
        """Return the others of the people who have any.

        The database joins the ids of a person into one text: half a million Python integers would
        cost more than their deliveries.
        """
        joined = list(
            self._follows()
            .filter(**{f"{self._near}__in": person_ids})
            .values_list(self._near)
            .annotate(ids=_Joined(self._far), total=Sum(self._far))
        )
        others = {person_id: np.fromstring(ids, np.int64, sep=",") for person_id, ids, _ in joined}
        # MySQL silently truncates at group_concat_max_len.
        cut = [person_id for person_id, _, total in joined if others[person_id].sum() != total]
        return others | self._find_by_row(cut)

    def _find_by_row(self, person_ids: Sequence[int]) -> dict[int, Ids]:
        others: dict[int, list[int]] = {person_id: [] for person_id in person_ids}
        if person_ids:
            follows = self._follows().filter(**{f"{self._near}__in": person_ids})
            for person_id, other_id in follows.values_list(self._near, self._far):
                others[person_id].append(other_id)
        return {person_id: np.array(ids, np.int64) for person_id, ids in others.items()}


_delivered = _Cached(deliverable, "author_id", "reader_id")
_authors = _Cached(Follow.objects.all, "reader_id", "author_id")


def _with_themselves(person_ids: Iterable[int], others: Mapping[int, Ids]) -> dict[int, Ids]:
    nobody = np.array([], np.int64)
    return {
        person_id: np.append(np.int64(person_id), others.get(person_id, nobody))
        for person_id in person_ids
    }

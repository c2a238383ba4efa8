"""Recipients of posts: of one, and of many for the stores that write outside the database."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date
from threading import Lock
from typing import Any

import numpy as np
from django.db.models import Aggregate, QuerySet, Sum, TextField
from numpy.typing import NDArray

from accounts.models import Friendship, Person
from feed.celebrities import deliverable
from feed.models import Post
from feed.readers import delivered_since

Ids = NDArray[np.int64]
Deliveries = Sequence[tuple[int, Ids]]
"""Post ids, each with the owners of the timelines that it is due in."""
Version = tuple[int, date | None] | None
"""Of the friends that an author's posts are delivered to; None: they may not be cached."""

MAX_CACHED_IDS = 4_000_000
"""Per-process cache limit: 32 MB."""
ENTRY_IDS = 40
"""What an author takes besides the ids, measured in ids."""


class _Joined(Aggregate):
    function = "GROUP_CONCAT"
    output_field = TextField()

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = "STRING_AGG(%(expressions)s::text, ',')"
        return self.as_sql(compiler, connection, template=template, **context)


def owners_of(post: Post) -> list[int]:
    """Return the owners of the timelines that a post is delivered to, its author first."""
    friends = deliverable().filter(person_id=post.author_id).values_list("friend_id", flat=True)
    return [post.author_id, *friends]


def deliveries_of(posts: Sequence[Post]) -> Deliveries:
    return list(zip((post.id for post in posts), recipients_of(posts), strict=True))


def recipients_of(posts: Sequence[Post]) -> list[Ids]:
    """Return for each post the owners of the timelines that it is due in, its author first.

    They are current, in any transaction.
    """
    owners = _delivered.of({post.author_id for post in posts})
    return [owners[post.author_id] for post in posts]


def circles_of(person_ids: AbstractSet[int]) -> dict[int, Ids]:
    """Return each person with all their friends, also those whose timelines get no deliveries."""
    return _all.of(person_ids)


def _versions(author_ids: Iterable[int]) -> dict[int, Version]:
    people, since = Person.objects.filter(id__in=author_ids), delivered_since()
    return {
        author_id: None if version is None else (version, since)
        for author_id, version in people.values_list("id", "friends_version")
    }


class _Cached:
    """Owners by author and version; the oldest are evicted beyond ``MAX_CACHED_IDS``."""

    def __init__(self, friendships: Callable[[], QuerySet[Friendship]]) -> None:
        self._friendships = friendships
        self._owners: dict[int, tuple[Version, Ids]] = {}
        self._ids = 0
        self._lock = Lock()

    def of(self, author_ids: AbstractSet[int]) -> dict[int, Ids]:
        """Return the owners, each author first.

        One query reads the versions of all authors, another the friends that are not cached at
        these versions.
        """
        versions = _versions(author_ids)
        owners = self.get(versions)
        if unknown := author_ids - owners.keys():
            found = _with_themselves(unknown, _friends(unknown, self._friendships()))
            self.put(found, versions)
            owners |= found
        return owners

    def get(self, versions: Mapping[int, Version]) -> dict[int, Ids]:
        """Return the owners cached at exactly these versions."""
        known = self._owners
        return {
            author_id: entry[1]
            for author_id, version in versions.items()
            if (entry := known.get(author_id)) and entry[0] == version
        }

    def put(self, owners: Mapping[int, Ids], versions: Mapping[int, Version]) -> None:
        """Cache owners read after their version: if they are newer, the version has changed too."""
        with self._lock:
            for author_id, ids in owners.items():
                version = versions.get(author_id)
                if version is not None:
                    self._forget(author_id)
                    ids.setflags(write=False)
                    self._owners[author_id] = (version, ids)
                    self._ids += ENTRY_IDS + len(ids)
            while self._ids > MAX_CACHED_IDS:
                self._forget(next(iter(self._owners)))

    def _forget(self, author_id: int) -> None:
        if author_id in self._owners:
            _, ids = self._owners.pop(author_id)
            self._ids -= ENTRY_IDS + len(ids)


_delivered, _all = _Cached(deliverable), _Cached(Friendship.objects.all)


def _with_themselves(author_ids: Iterable[int], friends: Mapping[int, Ids]) -> dict[int, Ids]:
    nobody = np.array([], np.int64)
    return {
        author_id: np.append(np.int64(author_id), friends.get(author_id, nobody))
        for author_id in author_ids
    }


def _friends(author_ids: Iterable[int], friendships: QuerySet[Friendship]) -> dict[int, Ids]:
    """Return the friends of the authors who have any, among these friendships.

    The database joins the ids of an author into one text: half a million Python integers would
    cost more than their deliveries.
    """
    joined = list(
        friendships.filter(person_id__in=author_ids)
        .values_list("person_id")
        .annotate(ids=_Joined("friend_id"), total=Sum("friend_id"))
    )
    friends = {author_id: np.fromstring(ids, np.int64, sep=",") for author_id, ids, _ in joined}
    # MySQL silently truncates at group_concat_max_len.
    cut = [author_id for author_id, _, total in joined if friends[author_id].sum() != total]
    return friends | _friends_by_row(cut, friendships)


def _friends_by_row(author_ids: Sequence[int], friendships: QuerySet[Friendship]) -> dict[int, Ids]:
    friends: dict[int, list[int]] = {author_id: [] for author_id in author_ids}
    if author_ids:
        pairs = friendships.filter(person_id__in=author_ids)
        for author_id, friend_id in pairs.values_list("person_id", "friend_id"):
            friends[author_id].append(friend_id)
    return {author_id: np.array(ids, np.int64) for author_id, ids in friends.items()}

"""The audit: compares every timeline with the posts that are due in it."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from accounts.follows import author_ids
from accounts.models import Person
from feed import celebrities, epochs
from feed.compare import Ids, compare
from feed.models import Post
from feed.readers import is_active
from feed.timeline import read_page
from feed.timeline_stores.base import ALL, Held, TimelineStore

EXAMPLES = 5
PAGE = 100
"""Post ids per page."""


class AcceptedPost(NamedTuple):
    """A post that was answered with 201, as its client saw it."""

    id: int
    author_id: int
    created_at: datetime


@dataclass
class Audit:
    """Deliveries, counted over all persons."""

    posts: int = 0
    """Accepted posts: those in the database, and those answered with 201."""
    expected: int = 0
    missing: int = 0
    """Due and above the floor, but not in the timeline."""
    duplicated: int = 0
    """In the timeline more than once; each extra entry counts."""
    unexpected: int = 0
    """In the timeline, but not due: no such post, or its author is not read."""
    left: int = 0
    """Expected, but at or below the floor: the database answers for them."""
    merged: int = 0
    """Expected, but not in the timeline: readers merge what these celebrities write."""
    absent: int = 0
    """Timelines that the store doesn't hold, or whose owners don't read (FEED_ACTIVE_DAYS); all
    that is due in them is left to the database."""
    examples: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """The first findings of each kind as (owner id, post id)."""

    @property
    def ok(self) -> bool:
        return not (self.missing or self.duplicated or self.unexpected)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"ok": self.ok}

    def note(self, kind: str, owner_id: int, post_ids: Ids) -> int:
        """Keep a few examples, and return the number of post ids."""
        kept = self.examples.setdefault(kind, [])
        kept += [(owner_id, int(post_id)) for post_id in post_ids[: EXAMPLES - len(kept)]]
        return len(post_ids)


class Stored:
    """Timelines as their store holds them."""

    def __init__(self, store: TimelineStore) -> None:
        self.store = store
        self.capacity = store.capacity
        celebrities.forget()
        self.merged = np.array(sorted(celebrities.merged()), np.int64)
        """Authors whose posts need not be there."""

    def held(self, owner_id: int) -> Held:
        may_be_read = epochs.is_usable(self.store) and is_active(owner_id)
        return self.store.read(owner_id, limit=ALL) if may_be_read else Held()


class Shown(Stored):
    """Timelines as readers see them: page by page to their end, from store and database."""

    def __init__(self, store: TimelineStore) -> None:
        super().__init__(store)
        self.capacity = None
        self.merged = np.array([], np.int64)

    def held(self, owner_id: int) -> Held:
        ids = page = read_page(self.store, owner_id, limit=PAGE).ids
        while len(page) == PAGE:
            page = read_page(self.store, owner_id, before=page[-1], limit=PAGE).ids
            ids = ids + page
        return Held(ids, floor=0)


def audit(
    store: TimelineStore, accepted: Iterable[AcceptedPost] = (), view: type[Stored] = Stored
) -> Iterator[tuple[float, Audit]]:
    """Audit a store while nothing is being written; yield (share done, counts so far).

    A timeline must hold what is due by what its owner reads now, above its floor; what is at or
    below it is counted as left to the database. A deleted post may be there or not. A store with
    a capacity must hold the newest ids of each timeline, and may hold older ones. An accepted
    post that is not in the database is missing in every timeline that its author's posts are due
    in.
    """
    timelines = view(store)
    posts = _Posts.read()
    lost = [post for post in accepted if post not in posts]
    found = Audit(posts=len(posts.ids) + len(lost))
    people = list(Person.objects.order_by("id").values_list("id", flat=True))
    for done, owner_id in enumerate(people, start=1):
        authors = np.array([owner_id, *author_ids(owner_id)], np.int64)
        audit_one(found, owner_id, posts.due(authors), timelines)
        _count_lost(found, owner_id, lost, authors)
        yield done / len(people), found


@dataclass
class _Posts:
    ids: Ids
    authors: Ids
    live: NDArray[np.bool_]
    created: list[datetime]

    @classmethod
    def read(cls) -> "_Posts":
        rows = list(
            Post.objects.order_by("id").values_list("id", "author_id", "deleted_at", "created_at")
        )
        return cls(
            ids=np.array([row[0] for row in rows], np.int64),
            authors=np.array([row[1] for row in rows], np.int64),
            live=np.array([row[2] is None for row in rows], np.bool_),
            created=[row[3] for row in rows],
        )

    def due(self, authors: Ids) -> "Due":
        mine = np.isin(self.authors, authors)
        return Due(self.ids[mine], self.live[mine], self.authors[mine])

    def __contains__(self, post: AcceptedPost) -> bool:
        at = int(np.searchsorted(self.ids, post.id))
        found = at < len(self.ids) and self.ids[at] == post.id
        return bool(
            found and self.authors[at] == post.author_id and self.created[at] == post.created_at
        )


class Due(NamedTuple):
    """The posts due in one person's timeline, oldest first."""

    ids: Ids
    live: NDArray[np.bool_]
    authors: Ids

    def newest(self, capacity: int | None) -> Ids:
        start = 0 if capacity is None else max(0, len(self.ids) - capacity)
        return self.ids[start:][self.live[start:]]

    def by_others(self, owner_id: int, authors: Ids) -> Ids:
        """Return what was written by some authors, the owner left out."""
        return self.ids[np.isin(self.authors, authors[authors != owner_id])]


def audit_one(found: Audit, owner_id: int, due: Due, timelines: Stored) -> None:
    """Add the missing, duplicated and unexpected posts of one person's timeline to ``found``."""
    held = timelines.held(owner_id)
    wanted = due.newest(timelines.capacity)
    above = wanted[wanted > held.floor] if held.floor is not None else wanted[:0]
    found.expected += len(wanted)
    found.left += len(wanted) - len(above)
    found.absent += held.floor is None
    wrong = compare(above, held.ids, allowed=due.ids)
    merged = due.by_others(owner_id, timelines.merged)
    missing = np.setdiff1d(wrong.missing, merged, assume_unique=True)
    found.merged += len(wrong.missing) - len(missing)
    found.missing += found.note("missing", owner_id, missing)
    found.duplicated += found.note("duplicated", owner_id, wrong.duplicated)
    found.unexpected += found.note("unexpected", owner_id, wrong.unexpected)


def _count_lost(found: Audit, owner_id: int, lost: list[AcceptedPost], authors: Ids) -> None:
    if lost:
        mine = np.isin([post.author_id for post in lost], authors)
        ids = np.array([post.id for post in lost], np.int64)[mine]
        found.expected += len(ids)
        found.missing += found.note("missing", owner_id, ids)

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from accounts.ids import MAX_ID
from feed import celebrities, epochs, readers
from feed.due import due_ids
from feed.models import Post

FEWEST_SHARDS, MOST_SHARDS = 2**6, 2**14
ALL = 2**28
"""A limit above the length of any timeline."""


class Held(NamedTuple):
    """What a store holds of a timeline, read in one step."""

    ids: list[int] = []
    """Post ids above the floor, newest first."""
    floor: int | None = None
    """The store is exact above this id; the database has the rest. None: the database has all,
    as of a timeline that is absent or pending; 0: the store has all."""
    ticket: int | None = None
    """Changes with the floor, in stores that load timelines from the database."""


class TimelineStore(ABC):
    """Keeps, for every person, the ids of the posts that their feed shows.

    A delivery puts one post id into one timeline. A post is due in its author's timeline and in
    the timelines of the author's friends. A timeline may be lost at any time: it is exact above
    its floor, and the database answers for the rest (docs/decisions/0041).
    """

    is_transactional: ClassVar[bool] = False
    """Deliveries are part of the caller's database transaction."""

    is_shared: ClassVar[bool] = True
    """Every process sees the deliveries."""

    is_computed_on_read: ClassVar[bool] = False
    """Delivering writes nothing: a timeline is computed on each read."""

    accepts_partial_delivery: ClassVar[bool] = False
    """Implements ``deliver_to``, which delivers a post to some of its owners."""

    needs_redis: ClassVar[bool] = False
    """Needs the server at TIMELINE_URL."""

    linger_ms: ClassVar[float] = 100
    """Milliseconds that a drainer collects a batch; long where large batches cost less per post."""

    capacity: int | None = None
    """The newest N post ids of a timeline are kept; None keeps all."""

    def __init__(self, alias: str) -> None:
        self.alias = alias

    @abstractmethod
    def deliver(self, posts: Sequence[Post]) -> None:
        """Make all deliveries of these committed posts; only ids and author ids are used.

        Returns when the store has confirmed every one. Raises what the store's client raises,
        and may then have made some of them. Repeating a delivery changes nothing.
        """

    def deliver_to(self, post: Post, owner_ids: Sequence[int]) -> None:
        """Deliver a post into some timelines only; otherwise like ``deliver``."""
        raise NotImplementedError(f"{self.alias} takes only whole posts")

    @abstractmethod
    def read(self, owner_id: int, *, before: int | None = None, limit: int = 20) -> Held:
        """Return up to ``limit`` ids that the store holds below ``before``."""

    @abstractmethod
    def change(self, owner_ids: Sequence[int], *, through: int) -> None:
        """Leave all ids up to ``through`` to the database, in the timelines of these owners.

        Called after a friendship change has committed; ``through`` is the newest post since.
        """

    def server_id(self) -> str:
        """Return which run of which server keeps the timelines; empty for the database."""
        return ""

    def is_on(self, server_id: str) -> bool:
        """Tell whether this process uses the server with this id."""
        return server_id == self.server_id()

    def successor(self, server_id: str) -> tuple[str, float] | None:
        """Return the id by now of the server that had this id, and for how many seconds receipts
        since then may be worth nothing; None if everything may be lost.
        """
        return (server_id, 0.0) if self.is_on(server_id) else None

    def suitable_shards(self) -> int:
        """Return how many shards an epoch should begin with, a power of two."""
        return FEWEST_SHARDS

    def steady_after(self) -> int:
        """Return after how many deliveries an empty store works as it does for good."""
        return 0

    def is_ahead_of_database(self) -> bool:
        """Tell whether the store has deliveries of posts that the database doesn't know."""
        return False

    def begin(self) -> None:  # noqa: B027  most have nothing to do
        """Make every timeline absent, at the beginning of an epoch, in its transaction.

        Stores whose keys have the number of the epoch in them need do nothing.
        """

    def remove_epoch(self, number: int) -> None:  # noqa: B027
        """Free the memory of timelines that belong to an earlier epoch."""

    def remove_unread(self) -> bool:
        """Remove some of what is kept at or below the floors; return whether there is more."""
        return False

    def discard(self, owner_id: int) -> None:  # noqa: B027
        """Free the memory of the timeline of a person who was deleted."""

    @abstractmethod
    def clear(self) -> None:
        """Make every timeline of this epoch absent."""

    def page(self, owner_id: int, *, before: int | None = None, limit: int = 20) -> list[int]:
        """Return up to ``limit`` post ids below ``before`` of a timeline, newest first.

        Fewer than ``limit`` means that the timeline ends there. What the store doesn't hold comes
        from the database.
        """
        if not (epochs.is_usable(self) and readers.is_noted(self, owner_id)):
            return due_ids(owner_id, before=before, limit=limit)
        authors = celebrities.merged()
        held = self.read(owner_id, before=before, limit=limit)
        ids = held.ids
        if held.floor != 0 and len(ids) < limit:
            ids = [*ids, *self.ask_database(owner_id, held, before=before, limit=limit)][:limit]
        return celebrities.merge(owner_id, ids, authors, before=before, limit=limit)

    def ask_database(
        self, owner_id: int, held: Held, *, before: int | None, limit: int
    ) -> list[int]:
        """Return the ids up to the floor that continue a page. ``held``: the store's part of it.

        Nothing above the floor: what is not delivered yet may not be on the next page either.
        """
        end = MAX_ID if held.floor is None else held.floor + 1
        end = end if before is None else min(before, end)
        return due_ids(owner_id, before=end, limit=limit - len(held.ids))

    @abstractmethod
    def rebuild(self, owner_ids: Sequence[int]) -> None:
        """Compute these timelines from the database, as far back as the store keeps them."""

    def members(self, owner_id: int) -> list[int]:
        """Return what the store holds of a timeline above its floor, newest first."""
        return self.read(owner_id, limit=ALL).ids

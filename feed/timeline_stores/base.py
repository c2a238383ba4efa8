from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from feed.models import Post

FEWEST_SHARDS, MOST_SHARDS = 2**6, 2**14
ALL = 2**28
"""A limit above the length of any timeline."""
Command = tuple[Any, ...]
"""Of Redis."""
Versions = Mapping[int, int]
"""Owner id → version, of pending timelines."""


class Held(NamedTuple):
    """What a store holds of a timeline, read in one step."""

    ids: list[int] = []
    """Post ids above the floor, newest first."""
    floor: int | None = None
    """The store is exact above this id; the database has the rest. None: the database has all,
    as of a timeline that is absent or pending; 0: the store has all."""
    version: int | None = None
    """Changes with the floor, in stores that take loads."""
    reply: bytes | None = None
    """The reply to the command that went along, empty for nil; None if none went along."""


class Wanted(NamedTuple):
    """What is asked of a timeline, as in ``TimelineStore.read``."""

    before: int | None
    limit: int
    along: Command | None


class Servers:
    """What keeps a store's timelines: here the service's own database."""

    url = ""
    """Of the Redis that takes another command along with a read; empty for others."""

    def identity(self) -> str:
        """Return which runs of which servers these are; empty for the database."""
        return ""

    def are(self, identity: str) -> bool:
        """Tell whether this thread's connections are to the servers with this identity."""
        return identity == self.identity()

    def successor(self, identity: str) -> tuple[str, float] | None:
        """Return how servers that had this identity are identified now, and for how many seconds
        what was confirmed may have been lost since; None if everything may have been."""
        return (identity, 0.0) if self.are(identity) else None

    def suitable_shards(self) -> int:
        """Return how many shards these servers need at least, a power of two."""
        return FEWEST_SHARDS


class TimelineStore(ABC):
    """Keeps, for every person, the ids of the posts that their feed shows.

    A delivery puts one post id into one timeline. A post is due in its author's timeline and in
    the timelines of the author's readers. A timeline may be lost at any time: it is exact above
    its floor, and the database answers for the rest (docs/decisions/0041). ``feed.timeline`` puts
    pages together from both.
    """

    is_transactional: ClassVar[bool] = False
    """Deliveries are part of the caller's database transaction."""

    is_healing: ClassVar[bool] = True
    """What is lost of a timeline, or cut off, is computed from the database when it is read."""

    is_computed_on_read: ClassVar[bool] = False
    """Delivering writes nothing: a timeline is computed on each read."""

    accepts_partial_delivery: ClassVar[bool] = False
    """Implements ``deliver_to``, which delivers a post to some of its owners."""

    takes_loads: ClassVar[bool] = False
    """Implements ``create``, ``activate`` and ``load``: readers load what they have computed."""

    needs_redis: ClassVar[bool] = False
    """Needs the server at TIMELINE_URL."""

    linger_ms: ClassVar[float] = 100
    """Milliseconds that a drainer collects a batch; long where large batches cost less per post."""

    capacity: int | None = None
    """The newest N post ids of a timeline are kept; None keeps all."""

    servers: Servers = Servers()

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

    def read(
        self,
        owner_id: int,
        *,
        before: int | None = None,
        limit: int = 20,
        along: Command | None = None,
    ) -> Held:
        """Return up to ``limit`` ids that the store holds below ``before``.

        ``along``: a command for the server at ``servers.url``, which is sent with the store's own.
        """
        return self.find(owner_id, Wanted(before, limit, along))

    @abstractmethod
    def find(self, owner_id: int, page: Wanted) -> Held:
        """Return what the store holds of a page; callers use ``read``."""

    @abstractmethod
    def change(self, owner_ids: Sequence[int], *, through: int) -> None:
        """Leave all ids up to ``through`` to the database, in the timelines of these owners.

        Called after it has committed whom they read from now on; ``through`` is the newest post
        since. The owners are ascending: two changes that lock them in turn don't wait for each
        other.
        """

    @abstractmethod
    def clear(self) -> None:
        """Make every timeline of this epoch absent."""

    def create(self, owner_ids: Sequence[int]) -> Versions:
        """Create absent timelines, pending; return all that are pending."""
        raise NotImplementedError(f"{self.alias} takes no loads")

    def activate(self, pending: Versions, *, through: int) -> None:
        """Let pending timelines begin above ``through``, the newest post after their creation."""
        raise NotImplementedError(f"{self.alias} takes no loads")

    def load(
        self, owner_id: int, version: int, *, through: int, floor: int, ids: Sequence[int]
    ) -> None:
        """Add the ids that are due above ``floor`` up to ``through``, ascending.

        Does nothing if the version has changed.
        """
        raise NotImplementedError(f"{self.alias} takes no loads")

    def rebuild(self, owner_id: int) -> None:  # noqa: B027  most have nothing to do
        """Compute a timeline from the database, in stores that take no loads."""

    def suitable_shards(self) -> int:
        """Return how many shards an epoch should begin with, a power of two."""
        return self.servers.suitable_shards()

    def steady_after(self) -> int:
        """Return after how many deliveries an empty store works as it does for good."""
        return 0

    def is_ahead_of_database(self) -> bool:
        """Tell whether the store has deliveries of posts that the database doesn't know."""
        return False

    def begin(self) -> None:  # noqa: B027
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

    def members(self, owner_id: int) -> list[int]:
        """Return what the store holds of a timeline above its floor, newest first."""
        return self.read(owner_id, limit=ALL).ids

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from feed.models import Post


class TimelineStore(ABC):
    """Keeps, for every person, the ids of the posts that their feed shows.

    A delivery puts one post id into one timeline. A post is due in its author's timeline and in
    the timelines of the author's friends at the time of the delivery.
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
    """Needs the server at REDIS_URL."""

    linger_ms: ClassVar[float] = 100
    """Milliseconds that a drainer collects a batch; long where large batches cost less per post."""

    capacity: int | None = None
    """The newest N post ids of a timeline are kept; None keeps all."""

    def __init__(self, alias: str) -> None:
        self.alias = alias

    @abstractmethod
    def deliver(self, posts: Sequence[Post]) -> None:
        """Make all deliveries of these posts; only their ids and author ids are used.

        Returns when the store has confirmed every one. Raises what the store's client raises,
        and may then have made some of them. Repeating a delivery changes nothing.
        """

    def deliver_to(self, post: Post, owner_ids: Sequence[int]) -> None:
        """Deliver a post into some timelines only; otherwise like ``deliver``."""
        raise NotImplementedError(f"{self.alias} takes only whole posts")

    @abstractmethod
    def page(self, owner_id: int, *, before: int | None = None, limit: int = 20) -> list[int]:
        """Return up to ``limit`` post ids below ``before`` of a timeline, newest first.

        Fewer than ``limit`` means that the timeline ends there. An owner without a timeline
        has an empty one.
        """

    @abstractmethod
    def members(self, owner_id: int) -> list[int]:
        """Return a timeline as stored, in any order and unfiltered (for the audit)."""

    @abstractmethod
    def clear(self) -> None:
        """Empty every timeline of this store."""

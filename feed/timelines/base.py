from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from feed.models import Post


class Timeline(ABC):
    """A timeline store: for every person the ids of the posts that her feed shows.

    A delivery puts one post id into one timeline. A post is due in its author's timeline and in
    those of the author's friends at the time of the delivery.
    """

    transactional: ClassVar[bool] = False
    """Deliveries join the caller's database transaction: they commit and roll back with it."""

    shared: ClassVar[bool] = True
    """Other processes see the deliveries."""

    partial: ClassVar[bool] = False
    """Takes a post for some of its owners at a time (``deliver_to``)."""

    linger_ms: ClassVar[float] = 100
    """How long a drainer gathers a batch: long where many posts cost little more than few."""

    capacity: int | None = None
    """The newest N post ids of a timeline are kept; None keeps all."""

    def __init__(self, alias: str) -> None:
        self.alias = alias

    @abstractmethod
    def deliver(self, posts: Sequence[Post]) -> None:
        """Make all deliveries of these posts; only their ids and author ids are used.

        Returns when the store has confirmed every one. Raises what the store's client raises,
        and may then have made some of them. Delivering again what is there changes nothing.
        """

    def deliver_to(self, post: Post, owner_ids: Sequence[int]) -> None:
        """Deliver a post into some timelines only; else like ``deliver``."""
        raise NotImplementedError(f"{self.alias} takes only whole posts")

    @abstractmethod
    def page(self, owner_id: int, *, before: int | None = None, limit: int = 20) -> list[int]:
        """Return up to ``limit`` post ids below ``before`` of a timeline, newest first.

        Fewer than ``limit`` means that the timeline ends there. An owner without a timeline
        has an empty one.
        """

    @abstractmethod
    def members(self, owner_id: int) -> list[int]:
        """Return a timeline as it is stored, in any order, nothing filtered out (for the audit)."""

    @abstractmethod
    def clear(self) -> None:
        """Empty every timeline of this store."""

from abc import ABC, abstractmethod
from typing import ClassVar

from feed.models import Post


class Fanout(ABC):
    """A strategy. It decides when ``feed.delivery.deliver`` is called for a post, and by whom."""

    elsewhere: ClassVar[bool] = False
    """Another process makes the deliveries, so the timelines must be visible to all processes."""

    writes: ClassVar[bool] = False
    """``publish`` writes to the database, so the post can't be committed by its own INSERT."""

    partial: ClassVar[bool] = False
    """A post is delivered to some of its owners at a time (``Timeline.deliver_to``)."""

    grace_s: float
    """Seconds after which a post without a receipt is nobody's, and left to the drainer."""

    def __init__(self, alias: str, *, grace_s: float = 0.0) -> None:
        self.alias = alias
        self.grace_s = grace_s

    @abstractmethod
    def publish(self, post: Post) -> None:
        """Take charge of an accepted post's deliveries.

        Called once a post. For a strategy that ``writes`` this is inside the transaction that
        accepts the post: what it writes commits or rolls back with the post, and what it raises
        refuses it. For any other the post may be committed already. What must not run before the
        commit goes through ``transaction.on_commit`` in either case.
        """

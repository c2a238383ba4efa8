from abc import ABC, abstractmethod
from typing import ClassVar

from feed.models import Post


class Strategy(ABC):
    """Decides when ``feed.delivery.deliver`` is called for a post, and by which process."""

    delivers: ClassVar[bool] = True
    """Every post is delivered eventually."""

    needs_shared_store: ClassVar[bool] = False
    """Another process delivers, so every process must see the timelines."""

    needs_partial_delivery: ClassVar[bool] = False
    """Calls ``TimelineStore.deliver_to``, which delivers a post to some of its owners."""

    needs_drainer: ClassVar[bool] = False
    """``manage.py drain`` must run. It delivers the posts, or those that a request left pending;
    with a transactional store and no other process involved, a request leaves none pending."""

    needs_queue: ClassVar[bool] = False
    """``manage.py work`` must run: the workers of the queue."""

    writes_with_post: bool = False
    """``publish`` writes to the database, so the post can't be committed by its own INSERT."""

    grace_s: float
    """Seconds that the strategy may take for a post; then drainers deliver it."""

    def __init__(self, alias: str, *, grace_s: float = 0.0) -> None:
        self.alias = alias
        self.grace_s = grace_s

    @abstractmethod
    def publish(self, post: Post) -> None:
        """Take over the deliveries of an accepted post.

        Called once per post. A strategy that ``writes_with_post`` is called inside the
        transaction that accepts the post: what it writes commits or rolls back with the post, and
        an exception refuses the post. For any other strategy the post may be committed already.
        Work that must not start before the commit goes through ``transaction.on_commit``.
        """

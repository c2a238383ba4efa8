from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from feed.models import Post
from feed.recipients import Ids, recipients_of
from feed.timeline_stores.base import TimelineStore

Deliveries = Sequence[tuple[int, Ids]]
"""Post ids, each with the owners of the timelines that it is due in."""


class TrimmedStore(TimelineStore):
    """Keeps the newest ``capacity`` ids of a timeline, and looks up the recipients."""

    accepts_partial_delivery = True
    capacity: int

    def __init__(self, alias: str, *, capacity: int = 800) -> None:
        super().__init__(alias)
        self.capacity = capacity

    def deliver(self, posts: Sequence[Post]) -> None:
        ids = [post.id for post in posts]
        self.write(list(zip(ids, recipients_of(posts), strict=True)))

    def deliver_to(self, post: Post, owner_ids: Sequence[int]) -> None:
        self.write([(post.id, np.array(owner_ids, np.int64))])

    @abstractmethod
    def write(self, deliveries: Deliveries) -> None:
        """Make these deliveries and trim their timelines."""

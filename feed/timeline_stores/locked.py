from abc import abstractmethod
from collections.abc import Mapping, MutableMapping, Sequence
from contextlib import AbstractContextManager

import numpy as np

from feed.due import newest_post_id
from feed.models import Post
from feed.recipients import Deliveries, deliveries_of
from feed.timeline_stores.base import TimelineStore, Versions
from feed.timeline_stores.packing import unpack
from feed.timeline_stores.rule import MOST_ID, Timeline
from feed.timeline_stores.shards import by_owner

PORTION = 1000
"""Most timelines that are locked at once."""


class LockedStore(TimelineStore):
    """Timelines that are locked, changed in Python (``rule``), and written back."""

    accepts_partial_delivery = True
    takes_loads = True
    capacity: int

    def __init__(self, alias: str, *, capacity: int = 800) -> None:
        super().__init__(alias)
        self.capacity = capacity

    @abstractmethod
    def locked(self, owner_ids: Sequence[int]) -> AbstractContextManager[dict[int, Timeline]]:
        """Lock these timelines, and yield those that exist; at the end write all in the mapping."""

    def begin(self) -> None:
        self.clear()

    def deliver(self, posts: Sequence[Post]) -> None:
        self._deliver(deliveries_of(posts))

    def deliver_to(self, post: Post, owner_ids: Sequence[int]) -> None:
        self._deliver([(post.id, np.array(owner_ids, np.int64))])

    def _deliver(self, deliveries: Deliveries) -> None:
        pending = self.write(deliveries)
        if pending:
            self.activate(pending, through=newest_post_id())

    def write(self, deliveries: Deliveries) -> Versions:
        """Make these deliveries; return the timelines that are pending."""
        additions = list(by_owner(deliveries).items())
        pending: dict[int, int] = {}
        for start in range(0, len(additions), PORTION):
            pending |= self.add(dict(additions[start : start + PORTION]))
        return pending

    def add(self, additions: Mapping[int, bytes]) -> Versions:
        """Add packed ids to the timelines of some owners; return which are pending."""
        with self.locked(list(additions)) as timelines:
            _create(timelines, additions)
            for owner_id, ids in additions.items():
                timelines[owner_id].deliver(unpack(ids).tolist(), self.capacity)
            return _pending(timelines)

    def create(self, owner_ids: Sequence[int]) -> Versions:
        with self.locked(owner_ids) as timelines:
            _create(timelines, owner_ids)
            return _pending(timelines)

    def activate(self, pending: Versions, *, through: int) -> None:
        with self.locked(list(pending)) as timelines:
            for owner_id, timeline in timelines.items():
                timeline.activate(pending[owner_id], min(through, MOST_ID))

    def load(
        self, owner_id: int, version: int, *, through: int, floor: int, ids: Sequence[int]
    ) -> None:
        if through > MOST_ID:
            return
        with self.locked([owner_id]) as timelines:
            if owner_id in timelines:
                timelines[owner_id].load(version, through, floor, ids)

    def change(self, owner_ids: Sequence[int], *, through: int) -> None:
        with self.locked(owner_ids) as timelines:
            for timeline in timelines.values():
                timeline.change(min(through, MOST_ID))


def _create(
    timelines: MutableMapping[int, Timeline], owner_ids: Sequence[int] | Mapping[int, bytes]
) -> None:
    for owner_id in owner_ids:
        if owner_id not in timelines:
            timelines[owner_id] = Timeline()


def _pending(timelines: Mapping[int, Timeline]) -> Versions:
    return {
        owner_id: timeline.version
        for owner_id, timeline in timelines.items()
        if timeline.floor is None
    }

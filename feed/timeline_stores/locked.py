from abc import abstractmethod
from collections.abc import Mapping, MutableMapping, Sequence
from contextlib import AbstractContextManager

from feed.timeline_stores.base import Held
from feed.timeline_stores.packing import unpack
from feed.timeline_stores.shards import by_owner
from feed.timeline_stores.timeline import MOST_ID, Timeline
from feed.timeline_stores.trimmed import Deliveries, Tickets, TrimmedStore

PORTION = 1000
"""Most timelines that are locked at once."""


class LockedStore(TrimmedStore):
    """Timelines that are locked, changed in Python, and written back."""

    @abstractmethod
    def locked(self, owner_ids: Sequence[int]) -> AbstractContextManager[dict[int, Timeline]]:
        """Lock these timelines, and yield those that exist; at the end write all in the mapping."""

    @abstractmethod
    def get(self, owner_id: int) -> Timeline | None:
        """Return a timeline; None if it is absent."""

    def begin(self) -> None:
        self.clear()

    def read(self, owner_id: int, *, before: int | None = None, limit: int = 20) -> Held:
        timeline = self.get(owner_id)
        return timeline.page(before, limit) if timeline else Held()

    def write(self, deliveries: Deliveries) -> Tickets:
        additions = list(by_owner(deliveries).items())
        pending: dict[int, int] = {}
        for start in range(0, len(additions), PORTION):
            pending |= self.add(dict(additions[start : start + PORTION]))
        return pending

    def add(self, additions: Mapping[int, bytes]) -> Tickets:
        """Add packed ids to the timelines of some owners; return which are pending."""
        with self.locked(list(additions)) as timelines:
            _create(timelines, additions)
            for owner_id, ids in additions.items():
                timelines[owner_id].deliver(unpack(ids).tolist(), self.capacity)
            return _pending(timelines)

    def create(self, owner_ids: Sequence[int]) -> Tickets:
        with self.locked(owner_ids) as timelines:
            _create(timelines, owner_ids)
            return _pending(timelines)

    def settle(self, pending: Tickets, *, through: int) -> None:
        with self.locked(list(pending)) as timelines:
            for owner_id, timeline in timelines.items():
                timeline.settle(pending[owner_id], through)

    def load(
        self, owner_id: int, ticket: int, *, through: int, floor: int, ids: Sequence[int]
    ) -> None:
        with self.locked([owner_id]) as timelines:
            if owner_id in timelines:
                timelines[owner_id].load(ticket, through, floor, ids)

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


def _pending(timelines: Mapping[int, Timeline]) -> Tickets:
    return {
        owner_id: timeline.ticket
        for owner_id, timeline in timelines.items()
        if timeline.floor is None
    }

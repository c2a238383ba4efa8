from abc import abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np

from feed.due import due_ids, newest_post_id
from feed.models import Post
from feed.recipients import Ids, recipients_of
from feed.signals import timeline_loaded
from feed.timeline_stores.base import Held, TimelineStore
from feed.timeline_stores.timeline import MOST_ID

Deliveries = Sequence[tuple[int, Ids]]
"""Post ids, each with the owners of the timelines that it is due in."""
Tickets = Mapping[int, int]
"""Owner id → ticket, of pending timelines."""
LOADED = 100
"""Ids that a reader loads into a timeline whose first page had to ask the database."""


class TrimmedStore(TimelineStore):
    """Keeps the newest ``capacity`` ids of a timeline, each with a floor, a seal and a ticket.

    ``feed.timeline_stores.timeline`` says what these are, and what each method does to them.
    """

    accepts_partial_delivery = True
    capacity: int

    def __init__(self, alias: str, *, capacity: int = 800) -> None:
        super().__init__(alias)
        self.capacity = capacity

    def deliver(self, posts: Sequence[Post]) -> None:
        ids = [post.id for post in posts]
        self._deliver(list(zip(ids, recipients_of(posts), strict=True)))

    def deliver_to(self, post: Post, owner_ids: Sequence[int]) -> None:
        self._deliver([(post.id, np.array(owner_ids, np.int64))])

    def _deliver(self, deliveries: Deliveries) -> None:
        pending = self.write(deliveries)
        if pending:
            self.settle(pending, through=_newest())

    def ask_database(
        self, owner_id: int, held: Held, *, before: int | None, limit: int
    ) -> list[int]:
        if before is not None:
            return super().ask_database(owner_id, held, before=before, limit=limit)
        due = self._load(owner_id, held, max(limit, LOADED))
        timeline_loaded.send(type(self), store=self.alias)
        return due

    def rebuild(self, owner_ids: Sequence[int]) -> None:
        pending = self.create(owner_ids) if owner_ids else {}
        through = _newest()
        if pending:
            self.settle(pending, through=through)
        if not through:
            return  # they are whole
        for owner_id in owner_ids:
            held = self.read(owner_id, limit=self.capacity)
            self._load(owner_id, held, max(1, self.capacity - len(held.ids)))

    def _load(self, owner_id: int, held: Held, count: int) -> list[int]:
        """Load a timeline with the newest ``count`` due ids up to its floor; return them.

        The order matters: first the ticket, then the newest post, then what is due.
        """
        ticket, through = held.ticket, held.floor
        if through is None:
            ticket = self.create([owner_id]).get(owner_id)
            through = newest_post_id()
        due = due_ids(owner_id, before=through + 1, limit=count)
        if ticket is not None and through <= MOST_ID:
            floor = 0 if len(due) < count else due[-1] - 1
            self.load(owner_id, ticket, through=through, floor=floor, ids=due[::-1])
        return due

    @abstractmethod
    def write(self, deliveries: Deliveries) -> Tickets:
        """Make these deliveries, and trim; absent timelines are created pending.

        Returns all that are pending.
        """

    @abstractmethod
    def create(self, owner_ids: Sequence[int]) -> Tickets:
        """Create absent timelines, pending; return all that are pending."""

    @abstractmethod
    def settle(self, pending: Tickets, *, through: int) -> None:
        """Let pending timelines begin above ``through``, the newest post after their creation."""

    @abstractmethod
    def load(
        self, owner_id: int, ticket: int, *, through: int, floor: int, ids: Sequence[int]
    ) -> None:
        """Add the ids that are due above ``floor`` up to ``through``, ascending.

        Does nothing if the ticket has changed.
        """


def _newest() -> int:
    """Return the newest post, as far as a floor can be; the database answers for higher ids."""
    return min(newest_post_id(), MOST_ID)

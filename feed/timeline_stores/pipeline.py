from collections.abc import Iterator
from itertools import islice

from feed.timeline_stores.redis import pending
from feed.timeline_stores.sortedset import SortedSetStore
from feed.timeline_stores.trimmed import Deliveries, Tickets

PORTION = 5_000  # deliveries per round trip; a whole large batch could exceed the time-out


class Pipeline(SortedSetStore):
    """The commands of ``roundtrip``, pipelined."""

    def write(self, deliveries: Deliveries) -> Tickets:
        waiting, found = pairs(deliveries), dict[int, int]()
        while portion := list(islice(waiting, PORTION)):
            both = [self.commands(owner_id, post_id) for post_id, owner_id in portion]
            for reply in self.send([command for pair in both for command in pair])[::2]:
                found |= pending(reply)
        return found


def pairs(deliveries: Deliveries) -> Iterator[tuple[int, int]]:
    """Yield each delivery as (post id, owner id)."""
    for post_id, owners in deliveries:
        for owner_id in owners.tolist():
            yield post_id, owner_id

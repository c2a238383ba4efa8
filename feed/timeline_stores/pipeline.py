from collections.abc import Iterator
from itertools import islice

from feed.timeline_stores.redis import pending
from feed.timeline_stores.sortedset import SortedSetStore
from feed.timeline_stores.trimmed import Deliveries, Tickets

PORTION = 5_000  # deliveries per round trip; a whole large batch could exceed the time-out


class Pipeline(SortedSetStore):
    """The commands of ``roundtrip``, pipelined."""

    def write(self, deliveries: Deliveries) -> Tickets:
        self.script.ensure(self.client)
        waiting, found = pairs(deliveries), dict[int, int]()
        with self.client.pipeline(transaction=False) as pipeline:
            while portion := list(islice(waiting, PORTION)):
                for post_id, owner_id in portion:
                    self.put(pipeline, owner_id, post_id)
                for reply in pipeline.execute()[::2]:
                    found |= pending(reply)
        return found


def pairs(deliveries: Deliveries) -> Iterator[tuple[int, int]]:
    """Yield each delivery as (post id, owner id)."""
    for post_id, owners in deliveries:
        for owner_id in owners.tolist():
            yield post_id, owner_id

from collections.abc import Iterator
from itertools import islice

from feed.timeline_stores.sortedset import SortedSetStore
from feed.timeline_stores.trimmed import Deliveries

PORTION = 5_000  # deliveries per round trip; a whole large batch could exceed the time-out


class Pipeline(SortedSetStore):
    """The commands of ``roundtrip``, pipelined."""

    def write(self, deliveries: Deliveries) -> None:
        waiting = pairs(deliveries)
        with self.client.pipeline(transaction=False) as pipeline:
            while portion := list(islice(waiting, PORTION)):
                for post_id, owner_id in portion:
                    self.put(pipeline, owner_id, post_id)
                pipeline.execute()


def pairs(deliveries: Deliveries) -> Iterator[tuple[int, int]]:
    """Yield each delivery as (post id, owner id)."""
    for post_id, owners in deliveries:
        for owner_id in owners.tolist():
            yield post_id, owner_id

from collections.abc import Iterator
from itertools import islice

from feed.timelines.redis import Deliveries
from feed.timelines.sortedset import SortedSetTimeline

PORTION = 5_000  # deliveries a round trip; a whole large batch could outlast the time-out


class Pipeline(SortedSetTimeline):
    """The commands of ``roundtrip``, sent together and answered together."""

    def write(self, deliveries: Deliveries) -> None:
        pairs = _pairs(deliveries)
        with self.client.pipeline(transaction=False) as pipeline:
            while portion := list(islice(pairs, PORTION)):
                for post_id, owner_id in portion:
                    self.put(pipeline, owner_id, post_id)
                pipeline.execute()


def _pairs(deliveries: Deliveries) -> Iterator[tuple[int, int]]:
    for post_id, owners in deliveries:
        for owner_id in owners.tolist():
            yield post_id, owner_id

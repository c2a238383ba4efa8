"""Redis lists, a common way to keep timelines that can't be a store (see ``Lists``)."""

from collections.abc import Sequence
from itertools import islice

from feed.timeline_stores.base import Held
from feed.timeline_stores.pipeline import PORTION, pairs
from feed.timeline_stores.redis import RedisStore
from feed.timeline_stores.trimmed import Deliveries, Tickets


class Lists(RedisStore):
    """Redis lists, LPUSH and LTRIM pipelined.

    Not a store of the service: a post that is delivered again is there twice.
    """

    def write(self, deliveries: Deliveries) -> Tickets:
        waiting = pairs(deliveries)
        with self.client.pipeline(transaction=False) as pipeline:
            while portion := list(islice(waiting, PORTION)):
                for post_id, owner_id in portion:
                    pipeline.lpush(self.key(owner_id), post_id)
                    pipeline.ltrim(self.key(owner_id), 0, self.capacity - 1)
                pipeline.execute()
        return {}

    def create(self, owner_ids: Sequence[int]) -> Tickets:
        return {}

    def read(self, owner_id: int, *, before: int | None = None, limit: int = 20) -> Held:
        ids = sorted(map(int, self.client.lrange(self.key(owner_id), 0, -1)), reverse=True)
        below = [post_id for post_id in ids if before is None or post_id < before]
        return Held(below[:limit], floor=0)

"""Redis lists, a common way to keep timelines that can't be a store (see ``Lists``)."""

from itertools import islice

from feed.timeline_stores.pipeline import PORTION, pairs
from feed.timeline_stores.redis import RedisStore
from feed.timeline_stores.trimmed import Deliveries


class Lists(RedisStore):
    """Redis lists, LPUSH and LTRIM pipelined.

    Not a store of the service: a post that is delivered again is there twice.
    """

    def write(self, deliveries: Deliveries) -> None:
        waiting = pairs(deliveries)
        with self.client.pipeline(transaction=False) as pipeline:
            while portion := list(islice(waiting, PORTION)):
                for post_id, owner_id in portion:
                    pipeline.lpush(self.key(owner_id), post_id)
                    pipeline.ltrim(self.key(owner_id), 0, self.capacity - 1)
                pipeline.execute()

    def page(self, owner_id: int, *, before: int | None = None, limit: int = 20) -> list[int]:
        newest = sorted(self.members(owner_id), reverse=True)
        return [post_id for post_id in newest if before is None or post_id < before][:limit]

    def members(self, owner_id: int) -> list[int]:
        ids = self.client.lrange(self.key(owner_id), 0, -1)
        return [int(post_id) for post_id in ids]

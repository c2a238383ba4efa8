from typing import Any

from redis import Redis

from feed.timeline_stores.base import ALL, Held
from feed.timeline_stores.packing import ID_BYTES, PENDING
from feed.timeline_stores.redis import RedisStore, Script
from feed.timeline_stores.timeline import new_ticket


class SortedSetStore(RedisStore):
    """Timelines as sorted sets, the post id both member and score."""

    script = Script("sortedset.lua", "rule.lua", "sortedset_operations.lua")

    def put(self, client: Redis, owner_id: int, post_id: int) -> Any:
        """Send the two commands of one delivery, add and trim; return the reply of the first."""
        sha1, prefix = self.script.sha1, self.shard_prefix(owner_id % self.shards)
        owner, ticket = f'[["{owner_id}"]]', new_ticket()
        packed = post_id.to_bytes(8, "little")
        reply = client.evalsha(
            *(sha1, 1, prefix, "deliver", ticket, ALL, owner),
            *(f"[[{ID_BYTES}]]", packed[:ID_BYTES], packed + packed),
        )
        client.evalsha(sha1, 1, prefix, "trim", ticket, self.capacity, owner)
        return reply

    def read(self, owner_id: int, *, before: int | None = None, limit: int = 20) -> Held:
        newest = "+inf" if before is None else f"({before}"
        shard = owner_id % self.shards
        reply = self.call("read", [shard], [[owner_id]], newest, limit)
        if not reply:
            return Held()
        ticket, floor, *ids = map(int, reply)
        return Held(ids, ticket=ticket, floor=None if floor == PENDING else floor)

from feed.timeline_stores.base import ALL, Held
from feed.timeline_stores.packing import ID_BYTES
from feed.timeline_stores.redis import RedisStore, Script
from feed.timeline_stores.redis_server import Command
from feed.timeline_stores.timeline import MOST_ID


class SortedSetStore(RedisStore):
    """Timelines as sorted sets, the post id both member and score."""

    script = Script("sortedset.lua", "rule.lua", "sortedset_operations.lua")

    def commands(self, owner_id: int, post_id: int) -> tuple[Command, Command]:
        """Return the two commands of one delivery, add and trim; the first replies tickets."""
        owners, packed = {owner_id % self.shards: [owner_id]}, post_id.to_bytes(8, "little")
        said = (f"[[{ID_BYTES}]]", packed[:ID_BYTES], packed + packed)
        add = self.command("deliver", owners, *said, capacity=ALL)
        return add, self.command("trim", owners)

    def read(self, owner_id: int, *, before: int | None = None, limit: int = 20) -> Held:
        newest = "+inf" if before is None else f"({before}"
        owners = {owner_id % self.shards: [owner_id]}
        reply = self.servers.ask(*self.command("read", owners, newest, limit))
        if not reply:
            return Held()
        ticket, floor, *ids = map(int, reply)
        return Held(ids, ticket=ticket, floor=None if floor >= MOST_ID else floor)

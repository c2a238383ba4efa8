import json
from collections.abc import Iterator, Sequence

from feed.timeline_stores.redis import RedisStore, pending
from feed.timeline_stores.shards import Shard, by_shard
from feed.timeline_stores.trimmed import Deliveries, Tickets

# Deliveries per call: a call blocks all other clients (for up to 20 ms), and must end well within
# the time-out. A cluster would need 1, which is one shard per call.
PORTION = 20_000


class ShardedStore(RedisStore):
    """Writes whole shards with one call; ids are sent packed."""

    def write(self, deliveries: Deliveries) -> Tickets:
        return self.write_shards(by_shard(deliveries))

    def write_shards(self, shards: Sequence[Shard]) -> Tickets:
        found: dict[int, int] = {}
        for portion in _portions(shards):
            numbers = [shard.number for shard in portion]
            owners = [shard.owners for shard in portion]
            lengths = json.dumps([shard.lengths for shard in portion])
            packed = [part for shard in portion for part in (shard.posts, shard.span)]
            found |= pending(self.call("deliver", numbers, owners, lengths, *packed))
        return found


def _portions(shards: Sequence[Shard]) -> Iterator[Sequence[Shard]]:
    deliveries = sum(shard.deliveries for shard in shards)
    size = max(1, len(shards) * PORTION // max(1, deliveries))
    for start in range(0, len(shards), size):
        yield shards[start : start + size]

import json
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from feed.timeline_stores.redis import RedisStore, pending
from feed.timeline_stores.shards import Shard, by_shard
from feed.timeline_stores.trimmed import Deliveries, Tickets

# Deliveries per call: a call blocks all other clients (for up to 20 ms), and must end well within
# the time-out.
PORTION = 20_000

Part = TypeVar("Part")


class ShardedStore(RedisStore):
    """Writes whole shards with one call; ids are sent packed."""

    def write(self, deliveries: Deliveries) -> Tickets:
        return self.write_shards(by_shard(deliveries, self.shards))

    def write_shards(self, shards: Sequence[Shard]) -> Tickets:
        found: dict[int, int] = {}
        for portion in shard_portions(shards):
            found |= self.call_with("deliver", portion)
        return found

    def call_with(self, operation: str, shards: Sequence[Shard], *arguments: bytes) -> Tickets:
        """Run an operation that delivers into these shards; return what is pending.

        ``arguments``: one more for each shard, if any.
        """
        of = {shard.number: shard for shard in shards}
        more = dict(zip(of, arguments, strict=True)) if arguments else {}

        def said(numbers: Sequence[int]) -> Sequence[Any]:
            lengths = json.dumps([of[number].lengths for number in numbers])
            packed = [part for number in numbers for part in (of[number].posts, of[number].span)]
            return lengths, *packed, *(more[number] for number in numbers if more)

        owners = {number: shard.owners for number, shard in of.items()}
        return pending(self.call(operation, owners, said))


def shard_portions(shards: Sequence[Shard]) -> Iterator[Sequence[Shard]]:
    return portions(shards, sum(shard.deliveries for shard in shards), PORTION)


def portions(parts: Sequence[Part], deliveries: int, most: int) -> Iterator[Sequence[Part]]:
    """Split what has about as many deliveries each into portions of about ``most``."""
    size = max(1, len(parts) * most // max(1, deliveries))
    for start in range(0, len(parts), size):
        yield parts[start : start + size]

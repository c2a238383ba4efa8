import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from redis.exceptions import NoScriptError

from feed.timelines.redis import Deliveries, RedisTimeline
from feed.timelines.shards import Shard, by_shard

PORTION = 200_000  # deliveries a round trip; a whole large batch could outlast the time-out


class Script:
    """A Lua script that writes the deliveries of one shard.

    KEYS: the prefix of the shard's keys. ARGV: ``Shard.owners``, ``Shard.posts``, the capacity.
    The timelines' own keys are not declared, only kept in the prefix's slot: Redis Cluster takes
    that, and 1,000 key names would have to be made and sent for each batch.
    """

    def __init__(self, name: str) -> None:
        self.source = Path(__file__).with_name(name).read_text()
        self.sha1 = hashlib.sha1(self.source.encode(), usedforsecurity=False).hexdigest()


class ScriptedTimeline(RedisTimeline):
    """Timelines that are written by one call of a script a shard, all in one round trip."""

    script: ClassVar[Script]

    def write(self, deliveries: Deliveries) -> None:
        self.write_shards(by_shard(deliveries))

    def write_shards(self, shards: Sequence[Shard]) -> None:
        for portion in _portions(shards):
            try:
                self._call(portion)
            except NoScriptError:  # a new Redis, or one that was restarted
                self.client.script_load(self.script.source)
                self._call(portion)

    def _call(self, shards: Sequence[Shard]) -> None:
        with self.client.pipeline(transaction=False) as pipeline:
            for shard in shards:
                prefix = self.shard_prefix(shard.number)
                arguments = (shard.owners, shard.posts, self.capacity)
                pipeline.execute_command("EVALSHA", self.script.sha1, 1, prefix, *arguments)
            pipeline.execute()


def _portions(shards: Sequence[Shard]) -> Iterator[Sequence[Shard]]:
    deliveries = sum(shard.deliveries for shard in shards)
    size = max(1, len(shards) * PORTION // max(1, deliveries))
    for start in range(0, len(shards), size):
        yield shards[start : start + size]

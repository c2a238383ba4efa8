import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from redis.exceptions import NoScriptError

from feed.timeline_stores.redis import RedisStore
from feed.timeline_stores.shards import Shard, by_shard
from feed.timeline_stores.trimmed import Deliveries

# Deliveries per call: a call blocks all other clients (for up to 20 ms), and must end well within
# the time-out. A cluster would need 1, which is one shard per call.
PORTION = 20_000


class Script:
    """A Lua script that writes the deliveries of some shards.

    KEYS: the prefix of each shard's keys. ARGV: the capacity, two JSON lists with a list for each
    shard, ``Shard.owners`` (as texts: JSON numbers are not 64-bit integers) and ``lengths``, and
    then ``posts`` and ``span`` of each. The timelines' own keys are not declared, but are in the
    prefix's slot: Redis Cluster accepts that, and a batch needs a thousand fewer names.
    """

    def __init__(self, name: str) -> None:
        self.source = Path(__file__).with_name(name).read_text()
        self.sha1 = hashlib.sha1(self.source.encode(), usedforsecurity=False).hexdigest()


class ScriptedStore(RedisStore):
    """Timelines that a script in the server writes; ids are sent packed."""

    script: ClassVar[Script]

    def write(self, deliveries: Deliveries) -> None:
        self.write_shards(by_shard(deliveries))

    def write_shards(self, shards: Sequence[Shard]) -> None:
        for portion in _portions(shards):
            try:
                self._call(portion)
            except NoScriptError:  # a new or restarted Redis
                self.client.script_load(self.script.source)
                self._call(portion)

    def _call(self, shards: Sequence[Shard]) -> None:
        prefixes = [self.shard_prefix(shard.number) for shard in shards]
        owners = json.dumps([list(map(str, shard.owners)) for shard in shards])
        lengths = json.dumps([shard.lengths for shard in shards])
        packed = [part for shard in shards for part in (shard.posts, shard.span)]
        self.client.evalsha(
            self.script.sha1, len(prefixes), *prefixes, self.capacity, owners, lengths, *packed
        )


def _portions(shards: Sequence[Shard]) -> Iterator[Sequence[Shard]]:
    deliveries = sum(shard.deliveries for shard in shards)
    size = max(1, len(shards) * PORTION // max(1, deliveries))
    for start in range(0, len(shards), size):
        yield shards[start : start + size]

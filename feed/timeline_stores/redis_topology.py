"""Who has which shards in a Redis Cluster (docs/decisions/0059)."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import count
from typing import Any, NamedTuple

from redis.crc import key_slot
from redis.exceptions import ClusterDownError

from feed.timeline_stores.redis_server import Command

SLOTS = 2**14


class Node(NamedTuple):
    """What the cluster says of one of its nodes."""

    url: str
    number: str
    primary: str
    """Number of its primary; "-" for a primary."""
    slots: Sequence[tuple[int, int]]
    """First and last of each range."""
    is_well: bool


class Topology:
    """Which primary has which slots. Nodes with slots are primaries."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        ranges = sorted((first, last, node.url) for node in nodes for first, last in node.slots)
        self._firsts = [first for first, _, _ in ranges]
        self._ranges = ranges
        self.primaries = sorted({url for _, _, url in ranges})
        urls = {node.number: node.url for node in nodes}
        self._replicated = {urls.get(node.primary) for node in nodes if node.is_well}

    def has_replica(self, url: str) -> bool:
        """Tell whether a primary has a replica that works."""
        return url in self._replicated

    def primary_of(self, command: Command) -> str:
        """Return the URL of the primary that has a command's key. Raises RedisError."""
        key = command[3 if command[0] in ("EVALSHA", "EVAL") else 1]
        slot = key_slot(key if isinstance(key, bytes) else key.encode())
        at = bisect_right(self._firsts, slot) - 1
        if at < 0 or slot > self._ranges[at][1]:
            raise ClusterDownError(f"no node has slot {slot}")
        return self._ranges[at][2]


class Members(NamedTuple):
    """The runs of the nodes that have the timelines, as an epoch knows them."""

    primaries: frozenset[str]
    replicas: frozenset[str]
    """Those that had everything when they were looked at."""

    @classmethod
    @lru_cache(maxsize=8)  # read for each page
    def of(cls, identity: str) -> "Members":
        primaries, _, replicas = identity.partition("/")
        return cls(frozenset(primaries.split()), frozenset(replicas.split()))

    def __str__(self) -> str:
        return f"{' '.join(sorted(self.primaries))}/{' '.join(sorted(self.replicas))}"


def nodes_of(told: Mapping[str, Mapping[str, Any]], before_host: str) -> list[Node]:
    """Return what CLUSTER NODES tells; ``before_host``: how the URLs of all nodes begin."""
    return [
        Node(
            f"{before_host}{address}",
            it["node_id"],
            it["master_id"],
            [(int(first), int(last)) for first, *_, last in map(_ends, it["slots"])],
            it["connected"] and "fail" not in it["flags"].split(","),
        )
        for address, it in told.items()
    ]


def _ends(slots: Sequence[str]) -> Sequence[str]:
    """Return the first and the last slot of a range, which may be one slot."""
    return [slots[0], *slots]


@cache
def tags(shards: int) -> Sequence[str]:
    """Return a hash tag for each shard, such that shards divide the slots into equal ranges.

    So each of any number of primaries has about as many shards as the others.
    """
    found: dict[int, str] = {}
    numbers = count()
    while len(found) < shards:
        tag = str(next(numbers))
        found.setdefault(key_slot(tag.encode()) * shards // SLOTS, tag)
    return [found[shard] for shard in range(shards)]

import json
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from django.db import DEFAULT_DB_ALIAS

from feed import epochs
from feed.due import newest_post_id
from feed.models import Post
from feed.recipients import Deliveries, deliveries_of
from feed.timeline_stores.base import Command, Held, TimelineStore, Versions, Wanted
from feed.timeline_stores.packing import HEADER_WORDS, ID_BYTES, held_of, pack
from feed.timeline_stores.redis_cluster import servers_at
from feed.timeline_stores.redis_servers import Keys, RedisServers
from feed.timeline_stores.rule import MOST_ID, new_version
from feed.timeline_stores.shards import Shard, by_shard

PORTION = 20_000
"""Deliveries per call: a call blocks all other clients, and must end well within the time-out."""
MARK = """
local first, last, known = unpack(ARGV)
local reached = redis.call('GET', KEYS[1])
local newest = reached and tonumber(string.match(reached, '%d+')) or 0
if newest >= tonumber(first) and reached ~= known then
  return reached
end
if newest < tonumber(string.match(last, '%d+')) then
  redis.call('SET', KEYS[1], last)
end
"""
"""Raises the watermark, unless it is as high already and not known to be the database's: then it
returns it. It must not move even for a moment, or nobody would notice a database that was restored
while others deliver."""
AHEAD = f"{MOST_ID} of no database"
"""A watermark that no delivery raises."""


def script_of(*files: str) -> str:
    """Return the source of a script: ``ring.lua``, and files that add operations to it."""
    texts = [(Path(__file__).parent / file).read_text() for file in files]
    return "\n".join([*texts, "return operations[request.operation]() or pending"])


class Part(NamedTuple):
    """What an operation of the script needs of one shard."""

    shard: int
    fields: Mapping[str, Any]
    """``owners``, and more by operation."""
    packed: bytes = b""
    """Post ids."""

    @property
    def size(self) -> int:
        return max(len(self.fields["owners"]), len(self.packed) // ID_BYTES)


class RingStore(TimelineStore):
    """Timelines as rings, in the Redis or cluster at ``url``, the newest ``capacity`` ids of each.

    A ring is a Redis string: a header, and distinct post ids ascending (``packing``). A script
    changes it. The stores differ in how deliveries get into the rings, and so in what they read.
    Raises ``redis.exceptions.RedisError``: ConnectionError (after one retry), TimeoutError,
    or ResponseError for a command that the server refuses, such as a write when memory is full.
    """

    accepts_partial_delivery = True
    takes_loads = True
    needs_redis = True
    linger_ms = 75
    capacity: int
    servers: RedisServers
    script: ClassVar[str]

    def __init__(self, alias: str, *, url: str, capacity: int = 800) -> None:
        super().__init__(alias)
        self.capacity = capacity
        self.servers = servers_at(url, self.script)
        self.keys = Keys(self, self.servers)

    @abstractmethod
    def write(self, deliveries: Deliveries) -> Versions:
        """Make these deliveries, and trim; absent timelines are created pending.

        Returns all that are pending.
        """

    def key(self, owner_id: int) -> str:
        """Return the key of an owner's ring."""
        return self.keys.of(owner_id)

    def deliver(self, posts: Sequence[Post]) -> None:
        if posts:
            self._deliver(deliveries_of(posts), posts[0], posts[-1])

    def deliver_to(self, post: Post, owner_ids: Sequence[int]) -> None:
        self._deliver([(post.id, np.array(owner_ids, np.int64))], post, post)

    def _deliver(self, deliveries: Deliveries, first: Post, last: Post) -> None:
        pending = self.write(deliveries)
        if pending:
            self.activate(pending, through=newest_post_id())
        self._mark(first, last)

    def create(self, owner_ids: Sequence[int]) -> Versions:
        return self.run("create", self._parts(owner_ids))

    def activate(self, pending: Versions, *, through: int) -> None:
        self.run("activate", self._parts(pending, pending), through=min(through, MOST_ID))

    def change(self, owner_ids: Sequence[int], *, through: int) -> None:
        self.run("change", self._parts(owner_ids), through=min(through, MOST_ID))

    def load(
        self, owner_id: int, version: int, *, through: int, floor: int, ids: Sequence[int]
    ) -> None:
        if through <= MOST_ID:
            (part,) = self._parts([owner_id], {owner_id: version})
            part = part._replace(packed=pack(np.array(ids, np.int64)).tobytes())
            self.run("load", [part], through=through, floor=floor)

    def clear(self) -> None:
        self.keys.remove_epoch()

    def remove_epoch(self, number: int) -> None:
        self.keys.remove_epoch(number)

    def discard(self, owner_id: int) -> None:
        self.servers.call([("UNLINK", self.key(owner_id))])

    def _parts(self, owner_ids: Iterable[int], versions: Versions | None = None) -> list[Part]:
        shards, owners = self.keys.shards, defaultdict[int, list[int]](list)
        for owner_id in owner_ids:
            owners[owner_id % shards].append(owner_id)
        parts = []
        for shard, owned in owners.items():
            fields: dict[str, Any] = {"owners": [*map(str, owned)]}
            if versions:
                fields["versions"] = [versions[owner_id] for owner_id in owned]
            parts.append(Part(shard, fields))
        return parts

    def run(self, operation: str, parts: Iterable[Part], **fields: int) -> Versions:
        """Run an operation of the script on these shards; return what is pending there."""
        pending: dict[int, int] = {}
        for portion in portions(list(parts)):
            most = self.servers.shards_per_call or len(portion)
            calls = [portion[start : start + most] for start in range(0, len(portion), most)]
            commands = [self._command(operation, call, fields) for call in calls]
            for reply in self.servers.call(commands):
                pending |= zip(map(int, reply[::2]), map(int, reply[1::2]), strict=True)
        return pending

    def _command(self, operation: str, parts: Sequence[Part], fields: Mapping[str, int]) -> Command:
        request = {
            "operation": operation,
            "new_version": new_version(),
            "capacity": self.capacity,
            "shards": [part.fields for part in parts],
            **fields,
        }
        prefixes = self.keys.of_shards([part.shard for part in parts])
        packed = b"".join([part.packed for part in parts])
        arguments = (*prefixes, json.dumps(request), packed)
        # The rings' own keys are not declared, but are in the slot of their shard's prefix: Redis
        # Cluster accepts that, and a batch needs a thousand fewer names.
        return ("EVALSHA", self.servers.sha1, len(prefixes), *arguments)

    def _mark(self, first: Post, last: Post) -> None:
        """Note a delivered batch: the watermark. Raises StoreUnusable if the database is behind.

        A database that was restored hands ids out again, below the watermark or the same. Later
        ones are above it: they may not be delivered either until there is a new epoch.
        """
        key, known = f"{self.keys.prefix()}watermark", b""
        mark = ("EVAL", MARK, 1, key, first.id, _identity(last))
        while reached := self.servers.call([(*mark, known)])[0]:
            if _is_unknown(reached):
                self.servers.call([("SET", key, AHEAD)])
                raise epochs.StoreUnusable("the timelines are newer than the database")
            known = reached

    def is_ahead_of_database(self) -> bool:
        (mark,) = self.servers.ask(("GET", f"{self.keys.prefix()}watermark"))
        return mark is not None and _is_unknown(mark)


class Ring(RingStore):
    """Each timeline is one Redis string: a header, and its distinct post ids ascending.

    A batch costs one append per owner, whatever its length.
    """

    script = script_of("ring.lua")

    def write(self, deliveries: Deliveries) -> Versions:
        return self.run("deliver", map(deliveries_into, by_shard(deliveries, self.keys.shards)))

    def find(self, owner_id: int, page: Wanted) -> Held:
        # One command, so that the header belongs to the ids. Without ``before`` the end suffices.
        start = 0 if page.before else -ID_BYTES * (page.limit + HEADER_WORDS)
        command = ("GETRANGE", self.keys.of(owner_id), start, -1)
        tail, reply = self.servers.ask_along(command, page.along)
        return held_of(tail, before=page.before, limit=page.limit)._replace(reply=reply)


def deliveries_into(shard: Shard, **more: Any) -> Part:
    """Return what ``deliver`` needs of a shard, and more fields."""
    owners = [*map(str, shard.owners)]  # JSON's numbers are not 64-bit integers
    span = {"oldest": shard.oldest, "newest": shard.newest}
    fields = {"owners": owners, "lengths": shard.lengths, **span, **more}
    return Part(shard.number, fields, shard.posts)


def portions(parts: Sequence[Part]) -> Iterator[Sequence[Part]]:
    """Split shards, which are about as large as each other, into portions of about PORTION."""
    size = max(1, len(parts) * PORTION // max(1, sum(part.size for part in parts)))
    for start in range(0, len(parts), size):
        yield parts[start : start + size]


def _identity(post: Post) -> bytes:
    """Return what two posts with the same id differ in."""
    return f"{post.id} {post.author_id} {post.created_at.isoformat()}".encode()


def _is_unknown(mark: bytes) -> bool:
    """Tell whether the database doesn't know the post that was marked."""
    post = Post.objects.using(DEFAULT_DB_ALIAS).filter(id=int(mark.split()[0])).first()
    return post is None or _identity(post) != mark

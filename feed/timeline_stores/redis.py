import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS
from redis import Redis
from redis.exceptions import RedisError

from feed import epochs
from feed.due import due_ids
from feed.models import Post
from feed.timeline_stores.base import FEWEST_SHARDS
from feed.timeline_stores.packing import pack
from feed.timeline_stores.redis_cluster import SCHEME, Cluster
from feed.timeline_stores.redis_server import Command, OneServer, Servers
from feed.timeline_stores.timeline import MOST_ID, new_ticket
from feed.timeline_stores.trimmed import Tickets, TrimmedStore

MARK = """
local reached = redis.call('GET', KEYS[1])
if reached and tonumber(string.match(reached, '%d+')) >= tonumber(ARGV[1]) then
  return reached
end
redis.call('SET', KEYS[1], ARGV[2])
"""
"""Raises the watermark. Returns it where it is as high already: it must not move even for a moment,
or nobody would notice a database that was restored while others deliver."""
RUN = "return operations[ARGV[1]]() or pending"


class Script:
    """A Lua script in parts: the form in which a timeline is kept, ``rule.lua``, and then more
    operations.

    The timelines' own keys are not declared, but are in the slot of their shard's prefix: Redis
    Cluster accepts that, and a batch needs a thousand fewer names.
    """

    def __init__(self, *parts: str) -> None:
        folder = Path(__file__).parent
        self.source = "\n".join([*((folder / name).read_text() for name in parts), RUN])
        self.sha1 = hashlib.sha1(self.source.encode(), usedforsecurity=False).hexdigest()


class RedisStore(TrimmedStore):
    """Timelines in Redis, one key each, which a script in the server changes.

    Raises ``redis.exceptions.RedisError``: ConnectionError (after one retry), TimeoutError,
    or ResponseError for a command that the server refuses, such as a write when memory is full.
    Only ``page`` doesn't: the database answers for it.
    """

    needs_redis = True
    linger_ms = 75
    script: ClassVar[Script]
    """For stores that use ``call`` or ``command``."""

    def __init__(self, alias: str, *, url: str, capacity: int = 800) -> None:
        super().__init__(alias, capacity=capacity)
        if not url:
            raise ImproperlyConfigured(f"the store {alias!r} needs TIMELINE_URL or REDIS_URL")
        kind = Cluster if url.startswith(SCHEME) else OneServer
        script: Script | None = getattr(self, "script", None)
        self.servers: Servers = kind(url, script.source if script else "")

    @property
    def client(self) -> Redis:
        """This thread's client of the one server."""
        assert isinstance(self.servers, OneServer)
        return self.servers.client

    @property
    def shards(self) -> int:
        return epochs.get_or_begin(self).shards

    def suitable_shards(self) -> int:
        return max(FEWEST_SHARDS, self.servers.suitable_shards())

    def shard_prefix(self, shard: int) -> str:
        """Return the key prefix of a shard; in a cluster, the braces keep its keys in one slot."""
        (prefix,) = self.shard_prefixes([shard])
        return prefix

    def shard_prefixes(self, shards: Iterable[int]) -> list[str]:
        """Return the key prefixes of shards, all of one epoch."""
        prefix, count = self._prefix(), self.shards
        return [f"{prefix}{{{self.servers.tag(shard, count)}}}:" for shard in shards]

    def _prefix(self) -> str:
        return f"timeline:{self.alias}:{epochs.get_or_begin(self).number:x}:"

    def key(self, owner_id: int) -> str:
        return f"{self.shard_prefix(owner_id % self.shards)}{owner_id}"

    def discard(self, owner_id: int) -> None:
        self.send([("UNLINK", self.key(owner_id))])

    def clear(self) -> None:
        self.remove_epoch(epochs.get_or_begin(self).number)

    def remove_epoch(self, number: int) -> None:
        for keys in self.servers.keys(f"timeline:{self.alias}:{number:x}:*"):
            self.send([("UNLINK", key) for key in keys])

    def server_id(self) -> str:
        return self.servers.identity()

    def is_on(self, server_id: str) -> bool:
        return self.servers.are(server_id)

    def successor(self, server_id: str) -> tuple[str, float] | None:
        return self.servers.successor(server_id)

    def deliver(self, posts: Sequence[Post]) -> None:
        super().deliver(posts)
        if posts:
            self._mark(posts[-1])

    def deliver_to(self, post: Post, owner_ids: Sequence[int]) -> None:
        super().deliver_to(post, owner_ids)
        self._mark(post)

    def page(self, owner_id: int, *, before: int | None = None, limit: int = 20) -> list[int]:
        try:
            return super().page(owner_id, before=before, limit=limit)
        except RedisError:  # the next calls are refused at once (runtime.away)
            return due_ids(owner_id, before=before, limit=limit)

    def _mark(self, post: Post) -> None:
        """Note a delivered post: the watermark. Raises StoreUnusable if the database is behind.

        A database that was restored hands ids out again, below the watermark or the same.
        """
        key = f"{self._prefix()}watermark"
        (reached,) = self.send([("EVAL", MARK, 1, key, post.id, _identity(post))])
        if reached and _is_unknown(reached):
            raise epochs.StoreUnusable("the timelines are newer than the database")

    def is_ahead_of_database(self) -> bool:
        mark = self.servers.ask("GET", f"{self._prefix()}watermark")
        return mark is not None and _is_unknown(mark)

    def create(self, owner_ids: Sequence[int]) -> Tickets:
        return pending(self._each("create", owner_ids))

    def settle(self, tickets: Tickets, *, through: int) -> None:
        owners = by_shard(tickets, self.shards)

        def said(shards: Sequence[int]) -> Sequence[Any]:
            of_shards = [[str(tickets[it]) for it in owners[shard]] for shard in shards]
            return through, json.dumps(of_shards)

        self.call("settle", owners, said)

    def change(self, owner_ids: Sequence[int], *, through: int) -> None:
        self._each("change", owner_ids, min(through, MOST_ID))

    def load(
        self, owner_id: int, ticket: int, *, through: int, floor: int, ids: Sequence[int]
    ) -> None:
        packed = pack(np.array(ids, np.int64)).tobytes()
        self._each("load", [owner_id], ticket, through, floor, packed)

    def send(self, commands: Sequence[Command]) -> list[Any]:
        """Send commands at once, as ``Servers.send``; raise the first error among the replies."""
        replies = self.servers.send(commands)
        for reply in replies:
            if isinstance(reply, Exception):
                raise reply
        return replies

    def call(
        self,
        operation: str,
        owners: Mapping[int, Sequence[int]],
        arguments: Callable[[Sequence[int]], Sequence[Any]],
    ) -> list[Any]:
        """Run an operation of the script on some owners of each of these shards.

        ``arguments`` returns what the operation needs beside the owners of some of the shards.
        """
        shards, most = list(owners), self.servers.shards_per_call or max(1, len(owners))
        portions = [shards[start : start + most] for start in range(0, len(shards), most)]
        replies = self.send(
            [
                self.command(operation, {it: owners[it] for it in some}, *arguments(some))
                for some in portions
            ]
        )
        return [it for reply in replies for it in reply]

    def command(
        self,
        operation: str,
        owners: Mapping[int, Sequence[int]],
        *arguments: Any,
        capacity: int | None = None,
    ) -> Command:
        """Return a call of the script."""
        prefixes = self.shard_prefixes(owners)
        names = json.dumps([list(map(str, some)) for some in owners.values()])
        said = (operation, new_ticket(), capacity or self.capacity, names, *arguments)
        return ("EVALSHA", self.script.sha1, len(prefixes), *prefixes, *said)

    def _each(self, operation: str, owner_ids: Iterable[int], *arguments: Any) -> list[Any]:
        return self.call(operation, by_shard(owner_ids, self.shards), lambda _: arguments)


def by_shard(owner_ids: Iterable[int], shards: int) -> dict[int, list[int]]:
    found: defaultdict[int, list[int]] = defaultdict(list)
    for owner_id in owner_ids:
        found[owner_id % shards].append(owner_id)
    return found


def pending(reply: Sequence[bytes]) -> Tickets:
    """Return a script's reply: owners and tickets, in turn."""
    return dict(zip(map(int, reply[::2]), map(int, reply[1::2]), strict=True))


def _identity(post: Post) -> bytes:
    """Return what two posts with the same id differ in."""
    return f"{post.id} {post.author_id} {post.created_at.isoformat()}".encode()


def _id_of(mark: bytes) -> int:
    return int(mark.split()[0])


def _is_unknown(mark: bytes) -> bool:
    """Tell whether the database doesn't know the post that was marked."""
    post = Post.objects.using(DEFAULT_DB_ALIAS).filter(id=_id_of(mark)).first()
    return post is None or _identity(post) != mark

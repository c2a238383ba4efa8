import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from threading import local
from typing import Any, ClassVar

import hiredis
import numpy as np
from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS
from redis import Redis
from redis.exceptions import NoScriptError, RedisError, ResponseError
from redis.utils import str_if_bytes

from feed import epochs
from feed.models import Post
from feed.timeline_stores.packing import pack
from feed.timeline_stores.timeline import MOST_ID, new_ticket
from feed.timeline_stores.trimmed import Tickets, TrimmedStore
from runtime.redis_options import redis_options

SCANNED = 1000


class Rider:
    """A command that goes along with another one, so that nobody waits for Redis twice."""

    def __init__(self, url: str, *command: Any) -> None:
        self.url = url
        self.command = command
        self.was_sent = False
        self.reply: Any = None


class _Thread(local):
    def __init__(self) -> None:
        self.clients: dict[str, Redis] = {}
        self.rider: Rider | None = None


_thread = _Thread()


@contextmanager
def taking_along(rider: Rider | None) -> Iterator[None]:
    """Send a command along with the first one of this block that ``RedisStore.ask`` sends to its
    server; ``was_sent`` tells whether there was one. It is sent once."""
    _thread.rider = None if rider and rider.was_sent else rider
    try:
        yield
    finally:
        _thread.rider = None


def connect(url: str) -> Redis:
    """Return this thread's client of a server, which keeps one connection.

    Taking a connection from redis-py's pool would make a short call 50 % more expensive.
    """
    clients = _thread.clients
    if url not in clients:
        clients[url] = Redis.from_url(
            url,
            single_connection_client=True,
            redis_connect_func=_look_who_answers,
            **redis_options(url),
        )
    return clients[url]


def pipelined(client: Redis, commands: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Send commands at once; return their replies, errors among them.

    redis-py's pipeline spends several times the server's CPU time on each command.
    """
    connection: Any = client.connection
    packed = [b"".join([hiredis.pack_command(command) for command in commands])]

    def send() -> list[Any]:
        connection.send_packed_command(packed)
        return [_reply(connection) for _ in commands]

    replies: list[Any] = connection.retry.call_with_retry(send, lambda _: connection.disconnect())
    return replies


def _reply(connection: Any) -> Any:
    try:
        return connection.read_response()
    except ResponseError as error:
        return error


class ServerReplaced(RedisError):
    """The server was restarted or replaced since this process last connected to it."""


def _look_who_answers(connection: Any) -> None:
    """Connect, and refuse once if another run of the server answers.

    It may hold an older copy, so its timelines can't be read before the epoch is looked at.
    """
    connection.on_connect()
    connection.send_command("INFO", "server")
    told = str_if_bytes(connection.read_response())
    run = dict(line.split(":", 1) for line in told.split() if ":" in line)["run_id"]
    before, connection.run_id = getattr(connection, "run_id", run), run
    if run != before:
        epochs.forget()
        connection.disconnect()
        raise ServerReplaced("Redis was restarted or replaced")


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

    def ensure(self, client: Redis) -> None:
        """Load the script into a server that doesn't have it."""
        if not client.script_exists(self.sha1)[0]:
            client.script_load(self.source)


class RedisStore(TrimmedStore):
    """Timelines in Redis, one key each, which a script in the server changes.

    Raises ``redis.exceptions.RedisError``: ConnectionError (after one retry), TimeoutError,
    or ResponseError for a command that the server refuses, such as a write when memory is full.
    """

    needs_redis = True
    linger_ms = 75
    script: ClassVar[Script]

    def __init__(self, alias: str, *, url: str, capacity: int = 800) -> None:
        super().__init__(alias, capacity=capacity)
        if not url:
            raise ImproperlyConfigured(f"the store {alias!r} needs REDIS_URL")
        self.url = url

    @property
    def client(self) -> Redis:
        return connect(self.url)  # on first use, so not before a server process forks

    def ask(self, *command: Any) -> Any:
        """Return the reply to a command; a ``Rider`` of this thread goes along."""
        rider, client = _thread.rider, self.client
        if rider is None or rider.url != self.url:
            return client.execute_command(*command)  # type: ignore[no-untyped-call]
        _thread.rider = None
        reply, rider.reply = pipelined(client, [command, rider.command])
        for it in (reply, rider.reply):
            if isinstance(it, ResponseError):
                raise it
        rider.was_sent = True
        return reply

    @property
    def shards(self) -> int:
        return epochs.current(self).shards

    def shard_prefix(self, shard: int) -> str:
        """Return the key prefix of a shard; in a cluster, the braces keep its keys in one slot."""
        return f"{self._prefix()}{{{shard}}}:"

    def _prefix(self) -> str:
        return f"timeline:{self.alias}:{epochs.current(self).number:x}:"

    def key(self, owner_id: int) -> str:
        return f"{self.shard_prefix(owner_id % self.shards)}{owner_id}"

    def discard(self, owner_id: int) -> None:
        self.client.unlink(self.key(owner_id))

    def clear(self) -> None:
        self.remove_epoch(epochs.current(self).number)

    def remove_epoch(self, number: int) -> None:
        keys = self.client.scan_iter(match=f"timeline:{self.alias}:{number:x}:*", count=SCANNED)
        while some := list(islice(keys, SCANNED)):
            self.client.unlink(*some)

    def server_id(self) -> str:
        run_id: str = self.client.connection.run_id  # type: ignore[union-attr]  # of the hook above
        return run_id

    def deliver(self, posts: Sequence[Post]) -> None:
        super().deliver(posts)
        if posts:
            self._mark(posts[-1])

    def deliver_to(self, post: Post, owner_ids: Sequence[int]) -> None:
        super().deliver_to(post, owner_ids)
        self._mark(post)

    def _mark(self, post: Post) -> None:
        """Note a delivered post: the watermark. Raises StoreUnusable if the database is behind.

        A database that was restored hands ids out again, below the watermark or the same.
        """
        key = f"{self._prefix()}watermark"
        reached: Any = self.client.eval(MARK, 1, key, post.id, _identity(post))
        if reached and _is_unknown(reached):
            raise epochs.StoreUnusable("the timelines are newer than the database")

    def is_ahead_of_database(self) -> bool:
        mark: Any = self.client.get(f"{self._prefix()}watermark")
        return mark is not None and _is_unknown(mark)

    def create(self, owner_ids: Sequence[int]) -> Tickets:
        return pending(self._each("create", owner_ids))

    def settle(self, tickets: Tickets, *, through: int) -> None:
        shards = by_shard(tickets, self.shards).values()
        said = [[str(tickets[it]) for it in owners] for owners in shards]
        self._each("settle", tickets, through, json.dumps(said))

    def change(self, owner_ids: Sequence[int], *, through: int) -> None:
        self._each("change", owner_ids, min(through, MOST_ID))

    def load(
        self, owner_id: int, ticket: int, *, through: int, floor: int, ids: Sequence[int]
    ) -> None:
        packed = pack(np.array(ids, np.int64)).tobytes()
        self._each("load", [owner_id], ticket, through, floor, packed)

    def call(
        self,
        operation: str,
        shards: Sequence[int],
        owners: Sequence[Sequence[int]],
        *arguments: Any,
    ) -> Any:
        """Run an operation of the script on some owners of each of these shards."""
        prefix = self._prefix()
        prefixes = [f"{prefix}{{{shard}}}:" for shard in shards]
        names = json.dumps([list(map(str, some)) for some in owners])
        said = (operation, new_ticket(), self.capacity, names, *arguments)
        try:
            return self.client.evalsha(self.script.sha1, len(prefixes), *prefixes, *said)
        except NoScriptError:  # a new or restarted Redis
            self.script.ensure(self.client)
            return self.client.evalsha(self.script.sha1, len(prefixes), *prefixes, *said)

    def _each(self, operation: str, owner_ids: Iterable[int], *arguments: Any) -> Any:
        owners = by_shard(owner_ids, self.shards)
        return self.call(operation, list(owners), list(owners.values()), *arguments)


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

"""Connections to Redis, the keys of timelines, and the servers that keep them: here one."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from threading import local
from typing import Any, ClassVar

import hiredis
from redis import Redis
from redis.exceptions import NoScriptError, RedisError, ResponseError
from redis.utils import str_if_bytes

from feed import epochs
from feed.timeline_stores.base import Command, Servers, TimelineStore
from runtime.redis_options import redis_options

SCANNED = 1000
Send = Callable[[Sequence[Command]], list[Any]]
"""Sends commands, and returns their replies."""


class _Thread(local):
    def __init__(self) -> None:
        self.clients: dict[str, Redis] = {}


thread = _Thread()


def connect(url: str) -> Redis:
    """Return this thread's client of a server, which keeps one connection.

    Taking a connection from redis-py's pool would make a short call 50 % more expensive.
    """
    clients = thread.clients
    if url not in clients:
        clients[url] = Redis.from_url(
            url,
            single_connection_client=True,
            redis_connect_func=_look_who_answers,
            **redis_options(url),
        )
    return clients[url]


def pipelined(client: Redis, commands: Sequence[Command]) -> list[Any]:
    """Send commands at once; return their replies, errors among them.

    redis-py's pipeline spends several times the server's CPU time on each command.
    """
    connection: Any = client.connection

    def send() -> list[Any]:
        connection.send_packed_command(packed(commands))
        return replies_to(commands, connection)

    replies: list[Any] = connection.retry.call_with_retry(send, lambda _: connection.disconnect())
    return replies


def packed(commands: Sequence[Command]) -> list[bytes]:
    return [b"".join([hiredis.pack_command(command) for command in commands])]


def replies_to(commands: Sequence[Command], connection: Any) -> list[Any]:
    """Read the replies to commands that were sent, errors among them."""
    return [_reply(connection) for _ in commands]


def _reply(connection: Any) -> Any:
    try:
        return connection.read_response()
    except ResponseError as error:
        return error


def numbers_of(error: type | tuple[type, ...], replies: Sequence[Any]) -> list[int]:
    """Return which replies are such errors."""
    return [number for number, reply in enumerate(replies) if isinstance(reply, error)]


def send_again(
    numbers: Sequence[int], commands: Sequence[Command], replies: list[Any], send: Send
) -> None:
    """Send some of these commands, and put their replies in the place of earlier ones."""
    again = send([commands[number] for number in numbers])
    for number, reply in zip(numbers, again, strict=True):
        replies[number] = reply


class ServerReplaced(RedisError):
    """The server was restarted or replaced since this process last connected to it."""


def _look_who_answers(connection: Any) -> None:
    """Connect, and refuse once if another run of the server answers.

    It may hold an older copy, so its timelines can't be read before the epoch is looked at.
    """
    connection.on_connect()
    connection.send_command("INFO", "server")
    info = str_if_bytes(connection.read_response())
    run = dict(line.split(":", 1) for line in info.split() if ":" in line)["run_id"]
    before, connection.run_id = getattr(connection, "run_id", run), run
    if run != before:
        epochs.forget()
        connection.disconnect()
        raise ServerReplaced("Redis was restarted or replaced")


def run_of(client: Redis) -> str:
    """Return which run of its server a client is connected to."""
    run_id: str = client.connection.run_id  # type: ignore[union-attr]  # of the hook above
    return run_id


class RedisServers(Servers, ABC):
    """Where the timelines of a store in Redis are. Raises ``redis.exceptions.RedisError`` only."""

    shards_per_call: ClassVar[int | None]
    """Most shards that one call of a script may name; None: any number."""

    def __init__(self, url: str, source: str = "") -> None:
        self.url = url
        self.source = source
        """The script that EVALSHA calls; a server that doesn't have it is given it."""
        self.sha1 = hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest()

    @abstractmethod
    def ask(self, *commands: Command) -> list[Any]:
        """Return the replies to commands that only read."""

    @abstractmethod
    def send(self, commands: Sequence[Command]) -> list[Any]:
        """Send commands at once; return their replies, errors among them.

        What they write is confirmed by as many servers as keep it. A command may be executed twice.
        """

    def ask_along(self, command: Command, along: Command | None) -> tuple[Any, bytes | None]:
        """Return the reply to a command, and that to another one: empty for nil, None for none."""
        if along is None:
            return self.ask(command)[0], None
        reply, other = self.ask(command, along)
        return reply, other or b""

    def call(self, commands: Sequence[Command]) -> list[Any]:
        """Send commands at once; return their replies, or raise the first error among them."""
        return raised(self.send(commands))

    @abstractmethod
    def clients(self) -> Sequence[Redis]:
        """Return this thread's clients of the servers that have timelines, of those that answer."""

    @abstractmethod
    def keys(self, pattern: str) -> Iterator[list[bytes]]:
        """Yield all keys that match, many at a time, some perhaps twice."""

    @abstractmethod
    def tag(self, shard: int, shards: int) -> str:
        """Return what the keys of a shard carry in braces."""


class OneServer(RedisServers):
    """One Redis."""

    shards_per_call = None

    @property
    def client(self) -> Redis:
        return connect(self.url)  # on first use, so not before a server process forks

    def ask(self, *commands: Command) -> list[Any]:
        return self.call(commands)

    def send(self, commands: Sequence[Command]) -> list[Any]:
        replies = pipelined(self.client, commands)
        if lacking := numbers_of(NoScriptError, replies):  # a new or restarted Redis
            self.client.script_load(self.source)
            send_again(lacking, commands, replies, partial(pipelined, self.client))
        return replies

    def clients(self) -> Sequence[Redis]:
        return [self.client]

    def keys(self, pattern: str) -> Iterator[list[bytes]]:
        return scan(self.client, pattern)

    def tag(self, shard: int, shards: int) -> str:
        return str(shard)

    def identity(self) -> str:
        return run_of(self.client)


class Keys:
    """The keys of a store, which carry its alias, the epoch's number, and their shard in braces."""

    def __init__(self, store: TimelineStore, servers: RedisServers) -> None:
        self._store, self._servers = store, servers

    @property
    def shards(self) -> int:
        return epochs.get_or_begin(self._store).shards

    def prefix(self, number: int | None = None) -> str:
        """Return how the keys of an epoch begin, or of this one."""
        number = epochs.get_or_begin(self._store).number if number is None else number
        return f"timeline:{self._store.alias}:{number:x}:"

    def of_shards(self, shards: Iterable[int]) -> list[str]:
        """Return the key prefixes of shards, all of one epoch.

        In a cluster, the braces keep the keys of a shard in one slot.
        """
        prefix, count = self.prefix(), self.shards
        return [f"{prefix}{{{self._servers.tag(shard, count)}}}:" for shard in shards]

    def of_shard(self, shard: int) -> str:
        (prefix,) = self.of_shards([shard])
        return prefix

    def of(self, owner_id: int) -> str:
        return f"{self.of_shard(owner_id % self.shards)}{owner_id}"

    def remove_epoch(self, number: int | None = None) -> None:
        for keys in self._servers.keys(f"{self.prefix(number)}*"):
            self._servers.call([("UNLINK", key) for key in keys])


def raised(replies: list[Any]) -> list[Any]:
    """Return replies, or raise the first error among them."""
    for reply in replies:
        if isinstance(reply, Exception):
            raise reply
    return replies


def scan(client: Redis, pattern: str) -> Iterator[list[bytes]]:
    keys = client.scan_iter(match=pattern, count=SCANNED)
    while batch := list(islice(keys, SCANNED)):
        yield batch

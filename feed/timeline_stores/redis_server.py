"""Connections to Redis, and the servers that keep timelines: here one, or a cluster."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from threading import local
from typing import Any, ClassVar

import hiredis
from redis import Redis
from redis.exceptions import NoScriptError, RedisError, ResponseError
from redis.utils import str_if_bytes

from feed import epochs
from runtime.redis_options import redis_options

SCANNED = 1000
Command = tuple[Any, ...]


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


thread = _Thread()


@contextmanager
def taking_along(rider: Rider | None) -> Iterator[None]:
    """Send a command along with the first one of this block that ``OneServer.ask`` sends to its
    server; ``was_sent`` tells whether there was one. It is sent once."""
    thread.rider = None if rider and rider.was_sent else rider
    try:
        yield
    finally:
        thread.rider = None


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


def numbers_of(error: type[ResponseError], replies: Sequence[Any]) -> list[int]:
    """Return which replies are such errors."""
    return [number for number, reply in enumerate(replies) if isinstance(reply, error)]


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


def run_of(client: Redis) -> str:
    """Return which run of its server a client is connected to."""
    run_id: str = client.connection.run_id  # type: ignore[union-attr]  # of the hook above
    return run_id


class Servers(ABC):
    """Where the timelines of the Redis stores are. Raises ``redis.exceptions.RedisError`` only."""

    shards_per_call: ClassVar[int | None]
    """Most shards that one call of a script may name; None: any number."""

    def __init__(self, url: str, source: str) -> None:
        self.url = url
        self.source = source
        """The script that EVALSHA calls; a server that doesn't have it is given it."""

    @abstractmethod
    def ask(self, *command: Any) -> Any:
        """Return the reply to a command that only reads; a ``Rider`` may go along."""

    @abstractmethod
    def send(self, commands: Sequence[Command]) -> list[Any]:
        """Send commands at once; return their replies, errors among them.

        What they write is confirmed by as many servers as keep it. A command may be executed twice.
        """

    @abstractmethod
    def clients(self) -> Sequence[Redis]:
        """Return this thread's clients of the servers that have timelines, of those that answer."""

    @abstractmethod
    def keys(self, pattern: str) -> Iterator[list[bytes]]:
        """Yield all keys that match, many at a time, some perhaps twice."""

    @abstractmethod
    def tag(self, shard: int, shards: int) -> str:
        """Return what the keys of a shard carry in braces."""

    @abstractmethod
    def suitable_shards(self) -> int:
        """Return how many shards these servers need at least."""

    @abstractmethod
    def identity(self) -> str:
        """Return which runs of which servers these are."""

    @abstractmethod
    def are(self, identity: str) -> bool:
        """Tell whether this thread's connections are to the servers with this identity."""

    @abstractmethod
    def successor(self, identity: str) -> tuple[str, float] | None:
        """Return how servers that had this identity are identified now, and for how many seconds
        what was confirmed may have been lost since; None if everything may have been."""


class OneServer(Servers):
    """One Redis."""

    shards_per_call = None

    @property
    def client(self) -> Redis:
        return connect(self.url)  # on first use, so not before a server process forks

    def ask(self, *command: Any) -> Any:
        rider = thread.rider if thread.rider and thread.rider.url == self.url else None
        replies = self.send([command, rider.command] if rider else [command])
        for reply in replies:
            if isinstance(reply, ResponseError):
                raise reply
        if rider:
            thread.rider, rider.was_sent, rider.reply = None, True, replies[1]
        return replies[0]

    def send(self, commands: Sequence[Command]) -> list[Any]:
        replies = pipelined(self.client, commands)
        if lacking := numbers_of(NoScriptError, replies):  # a new or restarted Redis
            self.client.script_load(self.source)
            again = pipelined(self.client, [commands[number] for number in lacking])
            for number, reply in zip(lacking, again, strict=True):
                replies[number] = reply
        return replies

    def clients(self) -> Sequence[Redis]:
        return [self.client]

    def keys(self, pattern: str) -> Iterator[list[bytes]]:
        return scan(self.client, pattern)

    def tag(self, shard: int, shards: int) -> str:
        return str(shard)

    def suitable_shards(self) -> int:
        return 1

    def identity(self) -> str:
        return run_of(self.client)

    def are(self, identity: str) -> bool:
        return identity == run_of(self.client)

    def successor(self, identity: str) -> tuple[str, float] | None:
        return (identity, 0.0) if self.are(identity) else None


def scan(client: Redis, pattern: str) -> Iterator[list[bytes]]:
    keys = client.scan_iter(match=pattern, count=SCANNED)
    while some := list(islice(keys, SCANNED)):
        yield some

"""Timelines in a Redis or Valkey Cluster (docs/decisions/0059)."""

import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext, suppress
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

from redis import Redis
from redis.exceptions import (
    AskError,
    ClusterDownError,
    MovedError,
    RedisError,
    ResponseError,
    TryAgainError,
)
from redis.exceptions import ConnectionError as Disconnected

from feed import epochs
from feed.timeline_stores.redis_exchange import exchange
from feed.timeline_stores.redis_server import (
    Command,
    ServerReplaced,
    Servers,
    connect,
    run_of,
    scan,
)
from feed.timeline_stores.redis_topology import Members, Node, Topology, nodes_of, tags

SCHEME = "redis+cluster://"
"""Of a URL with one or more of the nodes: redis+cluster://host:port,host:port"""
SHARDS_PER_PRIMARY = 16
MIGRATES_FOR_S = 2.0
"""How long a call waits for a slot that is being moved."""
LOOK_AGAIN_S = 0.02
LOOKS_EVERY_S = 1.0
"""Seconds between looks at the topology while the servers aren't those of the epoch."""
LOST_BEYOND_TIMEOUT_S = 10.0
"""A replica that hasn't heard of its primary for the node time-out and so long isn't promoted
(cluster-replica-validity-factor 1)."""
NODE_TIMEOUT = "cluster-node-timeout"


class Cluster(Servers):
    """Redis or Valkey Cluster. redis-py's own client can't send EVALSHA in a pipeline."""

    shards_per_call = 1

    def __init__(self, url: str, source: str) -> None:
        super().__init__(url, source)
        given = urlsplit(url)
        login, _, hosts = given.netloc.rpartition("@")
        self._before_host = f"redis://{login}@" if login else "redis://"
        self._seeds = [f"{self._before_host}{host}" for host in hosts.split(",")]
        self._topology: Topology | None = None
        self._looked_at = float("-inf")
        self._lock = Lock()
        self._trusted: frozenset[str] | None = None
        """The primaries' runs that ``are`` last said yes to."""

    def ask(self, *command: Any) -> Any:
        (reply,) = self._settled([command], confirm=False)
        if isinstance(reply, ResponseError):
            raise reply
        return reply

    def send(self, commands: Sequence[Command]) -> list[Any]:
        return self._settled(commands, confirm=True)

    def clients(self) -> Sequence[Redis]:
        """As ``Servers.clients``.

        Nothing else connects to a node for the first time, so who looks at these knows them all.
        """
        clients = []
        for url in self._known().primaries:
            with suppress(RedisError):
                clients.append(connect(url))
        return clients

    def keys(self, pattern: str) -> Iterator[list[bytes]]:
        for url in self._known().primaries:
            yield from scan(connect(url), pattern)

    def tag(self, shard: int, shards: int) -> str:
        return tags(shards)[shard]

    def suitable_shards(self) -> int:
        wanted = SHARDS_PER_PRIMARY * len(self._known().primaries)
        return 1 << (wanted - 1).bit_length()

    def _settled(self, commands: Sequence[Command], *, confirm: bool) -> list[Any]:
        """Return the replies when no slot is on its way.

        A script that is called while a slot migrates may not follow to where the slot goes: some of
        its timelines would begin anew there, beside those that are still to come. Since nothing has
        the name that a script declares, the server says ASK for all that while (decision 0059).
        """
        replies: list[Any] = [None] * len(commands)
        left, give_up_at = list(range(len(commands))), time.monotonic() + MIGRATES_FOR_S
        while left:
            found = self._replies([commands[number] for number in left], confirm=confirm)
            for number, reply in zip(left, found, strict=True):
                replies[number] = reply
            left = [
                number for number in left if isinstance(replies[number], (AskError, TryAgainError))
            ]
            if left and time.monotonic() > give_up_at:
                raise TryAgainError("a slot of the cluster is being moved")
            if left:
                time.sleep(LOOK_AGAIN_S)
        return replies

    def _replies(self, commands: Sequence[Command], *, confirm: bool) -> list[Any]:
        """Send each command to the primary that has its slot, and once more after a change."""
        replies = self._exchange(self._known(), commands, confirm=confirm)
        if stale := [number for number, reply in enumerate(replies) if _is_stale(reply)]:
            topology = self._look()
            self._make_sure()
            again = [commands[number] for number in stale]
            for number, reply in zip(
                stale, self._exchange(topology, again, confirm=confirm), strict=True
            ):
                replies[number] = reply
        for reply in replies:
            if _is_stale(reply):
                raise reply
        return replies

    def _exchange(
        self, topology: Topology, commands: Sequence[Command], *, confirm: bool
    ) -> list[Any]:
        """Send commands to all their servers at once; return replies, errors of servers too."""
        numbers: dict[str, list[int]] = {}
        for number, command in enumerate(commands):
            numbers.setdefault(topology.primary_of(command), []).append(number)
        batches = []
        for url, some in numbers.items():
            batch = [commands[number] for number in some]
            batches.append((url, batch, confirm and topology.has_replica(url)))
        replies: list[Any] = [None] * len(commands)
        found = exchange(batches, self.source)
        for some, reply in zip(numbers.values(), found, strict=True):
            several = [reply] * len(some) if isinstance(reply, RedisError) else reply
            for number, it in zip(some, several, strict=True):
                replies[number] = it
        return replies

    def _known(self) -> Topology:
        return self._topology or self._look()

    def _look(self) -> Topology:
        """Ask which primary has which slots. Raises RedisError if nobody answers."""
        with self._lock:
            self._topology = Topology(self._nodes())
            self._looked_at = time.monotonic()
        self.clients()
        return self._topology

    def _nodes(self) -> list[Node]:
        known = self._topology.primaries if self._topology else []
        error: RedisError = Disconnected("no node of the cluster answers")
        for url in dict.fromkeys([*known, *self._seeds]):
            try:
                return self._nodes_as_seen_by(connect(url))
            except RedisError as problem:
                error = problem
        raise error

    def _nodes_as_seen_by(self, client: Redis) -> list[Node]:
        told = client.execute_command("CLUSTER NODES")  # type: ignore[no-untyped-call]
        return nodes_of(told, self._before_host)

    def identity(self) -> str:
        return str(self._members(Members.of("")))

    def are(self, identity: str) -> bool:
        primaries = Members.of(identity).primaries
        if not self._runs() <= primaries:
            if time.monotonic() < self._looked_at + LOOKS_EVERY_S:
                return False
            self._look()  # a promotion that others have noted
            if not self._runs() <= primaries:
                return False
        self._trusted = primaries
        return True

    def _runs(self) -> set[str]:
        return {run_of(client) for client in self.clients()}

    def _make_sure(self) -> None:
        """Raise ServerReplaced if a node has become a primary, until the epoch was looked at."""
        if self._trusted is not None and not self._runs() <= self._trusted:
            epochs.forget()
            raise ServerReplaced("another node has become a primary")

    def successor(self, identity: str) -> tuple[str, float] | None:
        before = Members.of(identity)
        self._look()
        now = self._members(before)
        if not now.primaries <= before.primaries | before.replicas:
            return None
        if now.primaries <= before.primaries:
            return str(now), 0.0
        return str(now), self._timeout_s() + LOST_BEYOND_TIMEOUT_S

    def _members(self, before: Members) -> Members:
        """Return who has the timelines. Raises RedisError if a primary doesn't answer."""
        primaries, replicas = set(), set()
        for node in self._nodes():
            with nullcontext() if node.slots else suppress(RedisError):
                is_in_sync = _is_in_sync(connect(node.url))  # who asks notices another run
                run = run_of(connect(node.url))
                if node.primary == "-":
                    primaries.add(run)
                elif is_in_sync or run in before.replicas:
                    replicas.add(run)
        return Members(frozenset(primaries), frozenset(replicas))

    def _timeout_s(self) -> float:
        client = connect(self._known().primaries[0])
        return float(client.config_get(NODE_TIMEOUT)[NODE_TIMEOUT] or 0) / 1000


def _is_in_sync(client: Redis) -> bool:
    told = client.info("replication")
    return bool(told.get("master_link_status") == "up")


def _is_stale(reply: Any) -> bool:
    """Tell whether a reply shows that the topology has changed, or a server is away."""
    if isinstance(reply, AskError) and not isinstance(reply, MovedError):
        return False
    return isinstance(reply, (MovedError, ClusterDownError)) or (
        isinstance(reply, RedisError) and not isinstance(reply, ResponseError)
    )

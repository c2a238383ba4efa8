"""Timelines in a Redis or Valkey Cluster: who has which shards, and commands to several servers at
once (docs/decisions/0059)."""

import time
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import cache, lru_cache, partial
from itertools import count
from threading import Lock
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from redis import Redis
from redis.crc import key_slot
from redis.exceptions import (
    AskError,
    ClusterDownError,
    MovedError,
    NoScriptError,
    RedisError,
    ResponseError,
    TryAgainError,
)
from redis.exceptions import ConnectionError as Disconnected

from feed import epochs
from feed.timeline_stores.base import FEWEST_SHARDS, Command
from feed.timeline_stores.redis_servers import (
    OneServer,
    RedisServers,
    ServerReplaced,
    connect,
    numbers_of,
    packed,
    raised,
    replies_to,
    run_of,
    scan,
    send_again,
    thread,
)
from runtime.redis_options import noting

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
SLOTS = 2**14
CONFIRM_MS = 200
"""How long a write waits for a replica."""
Reply = list[Any] | RedisError


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


def nodes_of(described: Mapping[str, Mapping[str, Any]], before_host: str) -> list[Node]:
    """Return what CLUSTER NODES tells; ``before_host``: how the URLs of all nodes begin."""
    return [
        Node(
            f"{before_host}{address}",
            node["node_id"],
            node["master_id"],
            [(int(first), int(last)) for first, *_, last in map(_ends, node["slots"])],
            node["connected"] and "fail" not in node["flags"].split(","),
        )
        for address, node in described.items()
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


class Cluster(RedisServers):
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

    def ask(self, *commands: Command) -> list[Any]:
        return raised(self._settled(commands, confirm=False))

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
        return max(FEWEST_SHARDS, 1 << (wanted - 1).bit_length())

    def _settled(self, commands: Sequence[Command], *, confirm: bool) -> list[Any]:
        """Return the replies when no slot is on its way.

        A script that is called while a slot migrates may not follow to where the slot goes: some of
        its timelines would begin anew there, beside those that are still to come. Since nothing has
        the name that a script declares, the server says ASK for all that while (decision 0059).
        """
        replies: list[Any] = [None] * len(commands)
        left, give_up_at = list(range(len(commands))), time.monotonic() + MIGRATES_FOR_S
        while left:
            send_again(left, commands, replies, partial(self._replies, confirm=confirm))
            left = numbers_of((AskError, TryAgainError), replies)
            if left and time.monotonic() > give_up_at:
                raise TryAgainError("a slot of the cluster is being moved")
            if left:
                time.sleep(LOOK_AGAIN_S)
        return replies

    def _replies(self, commands: Sequence[Command], *, confirm: bool) -> list[Any]:
        """Send each command to the primary that has its slot, and once more after a change."""
        replies = self._with_script(self._known(), commands, confirm=confirm)
        if stale := [number for number, reply in enumerate(replies) if _is_stale(reply)]:
            send = partial(self._with_script, self._look(), confirm=confirm)
            self._make_sure()
            send_again(stale, commands, replies, send)
        for reply in replies:
            if _is_stale(reply):
                raise reply
        return replies

    def _with_script(
        self, topology: Topology, commands: Sequence[Command], *, confirm: bool
    ) -> list[Any]:
        """As ``_exchange``; give servers the script that they don't have, and call it again."""
        replies = self._exchange(topology, commands, confirm=confirm)
        if lacking := numbers_of(NoScriptError, replies):
            with suppress(RedisError):  # then the calls fail again
                for url in {topology.primary_of(commands[number]) for number in lacking}:
                    connect(url).script_load(self.source)
            send = partial(self._exchange, topology, confirm=confirm)
            send_again(lacking, commands, replies, send)
        return replies

    def _exchange(
        self, topology: Topology, commands: Sequence[Command], *, confirm: bool
    ) -> list[Any]:
        """Send commands to all their servers at once; return replies, errors of servers too."""
        numbers: dict[str, list[int]] = {}
        for number, command in enumerate(commands):
            numbers.setdefault(topology.primary_of(command), []).append(number)
        batches = [
            (url, [commands[n] for n in of_url], confirm and topology.has_replica(url))
            for url, of_url in numbers.items()
        ]
        replies: list[Any] = [None] * len(commands)
        for of_url, answer in zip(numbers.values(), exchange(batches), strict=True):
            of_each = [answer] * len(of_url) if isinstance(answer, RedisError) else answer
            for number, reply in zip(of_url, of_each, strict=True):
                replies[number] = reply
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
                described = connect(url).execute_command("CLUSTER NODES")  # type: ignore[no-untyped-call]
                return nodes_of(described, self._before_host)
            except RedisError as problem:
                error = problem
        raise error

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
                client = connect(node.url)
                replication = client.info("replication")  # who asks notices another run
                run = run_of(client)
                if node.primary == "-":
                    primaries.add(run)
                elif replication.get("master_link_status") == "up" or run in before.replicas:
                    replicas.add(run)
        return Members(frozenset(primaries), frozenset(replicas))

    def _timeout_s(self) -> float:
        client = connect(self._known().primaries[0])
        return float(client.config_get(NODE_TIMEOUT)[NODE_TIMEOUT] or 0) / 1000


def servers_at(url: str, source: str = "") -> RedisServers:
    """Return the Redis or cluster at a URL; ``source``: as of ``RedisServers``."""
    if not url:
        raise ImproperlyConfigured("a store in Redis needs TIMELINE_URL or REDIS_URL")
    return (Cluster if url.startswith(SCHEME) else OneServer)(url, source)


def _is_stale(reply: Any) -> bool:
    """Tell whether a reply shows that the topology has changed, or a server is away."""
    if isinstance(reply, AskError) and not isinstance(reply, MovedError):
        return False
    return isinstance(reply, (MovedError, ClusterDownError)) or (
        isinstance(reply, RedisError) and not isinstance(reply, ResponseError)
    )


def exchange(batches: Sequence[tuple[str, Sequence[Command], bool]]) -> list[Reply]:
    """Send commands to several servers, and then read the replies of all.

    ``batches``: a server's URL, its commands, and whether a replica has to confirm what they write.
    A server that fails has its error in place of replies.
    """
    if not batches:
        return []
    (url, commands, confirm), rest = batches[0], batches[1:]
    others: list[Reply] | None = None
    reply: Reply
    try:
        with noting(url):
            connection: Any = _connected(url).connection
            sent = [*commands, ("WAIT", 1, CONFIRM_MS)] if confirm else commands
            try:
                connection.send_packed_command(packed(sent))
                others = exchange(rest)
                reply = replies_to(sent, connection)
            except BaseException:
                connection.disconnect()  # or the next call would read these replies
                raise
        reply = _confirmed(reply) if confirm else reply
    except RedisError as error:
        reply = error
    return [reply, *(exchange(rest) if others is None else others)]


def _connected(url: str) -> Redis:
    if url not in thread.clients:
        raise Disconnected(f"{url} is not connected")
    return thread.clients[url]


def _confirmed(replies: list[Any]) -> list[Any]:
    """Return the replies without that of WAIT. Raises RedisError if no replica has the writes."""
    *replies, replicas = replies
    if isinstance(replicas, ResponseError):
        raise replicas
    if not replicas:
        raise Disconnected("no replica has confirmed the deliveries")
    return replies

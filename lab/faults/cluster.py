"""A cluster of timelines whose primaries die or are cut off, and whose slots move."""

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from lab.faults.fault import fault, in_cluster, on_hosts
from lab.faults.readers import Readers
from lab.faults.running import Running, wait_for
from lab.faults.workers import cut_off
from launch.hosts import unavailable
from launch.processes import RunFailed
from launch.servers.redis import NODE_TIMEOUT_S, Cluster, Node

FAILOVER_S = 10 * NODE_TIMEOUT_S
"""Longest time until a replica has been promoted, on a busy machine."""
BEHIND_S = 1.0
AWAY_S = 3.0 * NODE_TIMEOUT_S
SLOTS_MOVED = 10
HALF_WAY_S = 0.1
MOST_KEYS = 10_000


def cluster_of(running: Running) -> Cluster:
    return next(server for server in running.service.servers if isinstance(server, Cluster))


@fault(
    "A primary of the cluster is killed, and comes back when its replica has its place.",
    at_stake="keys of the primary",
    needs=(in_cluster,),
    no_control="a primary sends a write to its replica before it answers, so the replica lacks "
    "nothing",
)
def primary_killed(running: Running, readers: Readers) -> int:
    return kill_primary(running, any_primary(running))


@fault(
    f"A primary of the cluster is killed {BEHIND_S:g} s after its replica has lost the "
    "connection to it, and comes back when that has its place.",
    at_stake="keys of the primary",
    needs=(in_cluster,),
    safeguard="promotions",
)
def primary_killed_ahead(running: Running, readers: Readers) -> int:
    primary = any_primary(running)
    with unreplicated(primary, cluster_of(running).replica_of(primary)):
        return kill_primary(running, primary)


@fault(
    f"The network of a primary's host is cut for {AWAY_S:g} s: its replica takes its "
    "place, and it learns of that when the network is back.",
    at_stake="keys of the primary",
    needs=(in_cluster, on_hosts),
    no_control="nobody who is cut off with it could write to it, and it learns at once what it "
    "became",
    unavailable=unavailable,
)
def primary_cut_off(running: Running, readers: Readers) -> int:
    primary = any_primary(running)
    keys = int(primary.ask("DBSIZE"))
    with cut_off(running, primary.role):
        time.sleep(AWAY_S)
    wait_for(cluster_of(running).is_well, FAILOVER_S)
    if primary.slots():
        raise RunFailed("no replica took the place of a primary that was away")
    return keys


@fault(
    f"Up to {SLOTS_MOVED} slots with timelines move from one primary of the cluster to "
    f"another, each half of its keys first, and the others {HALF_WAY_S:g} s later.",
    at_stake="keys that moved",
    needs=(in_cluster,),
    safeguard="asks",
)
def slots_moved(running: Running, readers: Readers) -> int:
    cluster = cluster_of(running)
    by_slots = sorted(cluster.with_slots(), key=lambda node: len(node.slots()))
    source, target = by_slots[-1], by_slots[0]
    slots = source.filled_slots()[:SLOTS_MOVED]
    return sum(move(cluster, source, target, slot) for slot in slots)


def any_primary(running: Running) -> Node:
    return random.choice(cluster_of(running).with_slots())  # noqa: S311


@contextmanager
def unreplicated(primary: Node, replica: Node) -> Iterator[None]:
    """Cut the replica's connection to its primary BEHIND_S before the block, until it ends."""
    replica.ask("CONFIG SET", "masteruser", "nobody")
    replica.ask("CONFIG SET", "masterauth", "wrong")
    try:
        primary.ask("CLIENT KILL", "TYPE", "replica")
        time.sleep(BEHIND_S)
        yield
    finally:
        replica.ask("CONFIG SET", "masterauth", "")
        replica.ask("CONFIG SET", "masteruser", "")


def kill_primary(running: Running, primary: Node) -> int:
    """Kill a primary, and start it again when another node has its slots; return its keys."""
    cluster, keys = cluster_of(running), int(primary.ask("DBSIZE"))
    running.processes.kill(primary.role)
    wait_for(lambda: len(cluster.with_slots()) == len(cluster.primaries), FAILOVER_S)
    primary.start()
    wait_for(cluster.is_well, FAILOVER_S)
    return keys


def move(cluster: Cluster, source: Node, target: Node, slot: int) -> int:
    """Move a slot with its keys, as redis-cli does, but slowly; return how many keys it had."""
    target.ask("CLUSTER SETSLOT", slot, "IMPORTING", source.number())
    source.ask("CLUSTER SETSLOT", slot, "MIGRATING", target.number())
    keys: list[bytes] = source.ask("CLUSTER GETKEYSINSLOT", slot, MOST_KEYS)
    half = len(keys) // 2
    migrate(source, target, keys[:half])
    time.sleep(HALF_WAY_S)
    migrate(source, target, keys[half:])
    for node in (target, source, *cluster.with_slots()):
        node.ask("CLUSTER SETSLOT", slot, "NODE", target.number())
    return len(keys)


def migrate(source: Node, target: Node, keys: Sequence[bytes]) -> None:
    if keys:
        # REPLACE, as redis-cli --cluster-replace: else what begins anew there ends the move.
        source.ask("MIGRATE", target.address, target.port, "", 0, 5000, "REPLACE", "KEYS", *keys)

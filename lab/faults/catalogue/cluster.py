"""A cluster of timelines whose primaries die, and whose slots move."""

import random
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import ClassVar

from lab.faults.base import Fault
from lab.faults.readers import Readers
from lab.faults.running import Running, frozen, wait_for
from launch.processes import RunFailed
from launch.servers.cluster import NODE_TIMEOUT_S, Cluster, Node

FAILOVER_S = 10 * NODE_TIMEOUT_S
"""Longest time until a replica has been promoted, on a busy machine."""
BEHIND_S = 1.0
AWAY_S = 3.0 * NODE_TIMEOUT_S
SLOTS_MOVED = 10
HALF_WAY_S = 0.1
MOST_KEYS = 10_000


def cluster_of(running: Running) -> Cluster:
    return next(it for it in running.service.servers if isinstance(it, Cluster))


class PrimaryKilled(Fault):
    name = "primary-killed"
    text = "A primary of the cluster is killed, and comes back when its replica has its place."
    no_control = (
        "a primary sends a write to its replica before it answers, so the replica lacks nothing"
    )
    at_stake = "keys of the primary"
    needs_cluster: ClassVar[bool] = True

    def inject(self, running: Running, readers: Readers) -> int:
        cluster = cluster_of(running)
        primary = random.choice(cluster.with_slots())  # noqa: S311
        with readers.held_up():
            return killed(cluster, running, primary)


class PrimaryKilledAhead(Fault):
    name = "primary-killed-ahead"
    text = (
        f"A primary of the cluster is killed {BEHIND_S:g} s after its replica has lost the "
        "connection to it, and comes back when that has its place."
    )
    safeguard = "promotions"
    at_stake = "keys of the primary"
    needs_cluster: ClassVar[bool] = True

    def inject(self, running: Running, readers: Readers) -> int:
        cluster = cluster_of(running)
        primary = random.choice(cluster.with_slots())  # noqa: S311
        replica = cluster.replica_of(primary)
        with readers.held_up():
            replica.ask("CONFIG SET", "masteruser", "nobody")
            replica.ask("CONFIG SET", "masterauth", "wrong")
            try:
                primary.ask("CLIENT KILL", "TYPE", "replica")
                time.sleep(BEHIND_S)
                return killed(cluster, running, primary)
            finally:
                replica.ask("CONFIG SET", "masterauth", "")
                replica.ask("CONFIG SET", "masteruser", "")


class PrimaryFrozen(Fault):
    name = "primary-frozen"
    text = (
        f"A primary of the cluster is stopped for {AWAY_S:g} s (SIGSTOP): its replica takes its "
        "place, and it goes on as if it still had it."
    )
    no_control = (
        "it learns within milliseconds that it is a replica now, and no replica confirms its writes"
    )
    at_stake = "keys of the primary"
    needs_cluster: ClassVar[bool] = True

    def inject(self, running: Running, readers: Readers) -> int:
        cluster = cluster_of(running)
        primary = random.choice(cluster.with_slots())  # noqa: S311
        keys = int(primary.ask("DBSIZE"))
        with readers.held_up():
            with self.away(running, primary):
                time.sleep(AWAY_S)
            wait_for(cluster.is_well, FAILOVER_S)
        if primary.slots():
            raise RunFailed("no replica took the place of a primary that was away")
        return keys

    def away(self, running: Running, primary: Node) -> AbstractContextManager[None]:
        """Return what surrounds the time in which the others don't hear of the primary."""
        return frozen(running.processes.pids(primary.role))


class SlotsMoved(Fault):
    name = "slots-moved"
    text = (
        f"Up to {SLOTS_MOVED} slots with timelines move from one primary of the cluster to "
        f"another, each half of its keys first, and the others {HALF_WAY_S:g} s later."
    )
    safeguard = "asks"
    at_stake = "keys that moved"
    needs_cluster: ClassVar[bool] = True

    def inject(self, running: Running, readers: Readers) -> int:
        cluster = cluster_of(running)
        primaries = cluster.with_slots()
        source = max(primaries, key=lambda it: len(it.slots()))
        target = min(primaries, key=lambda it: len(it.slots()))
        with readers.held_up():
            return sum(
                moved(cluster, source, target, slot) for slot in source.filled_slots()[:SLOTS_MOVED]
            )


def keys_in(node: Node, slot: int) -> list[bytes]:
    keys: list[bytes] = node.ask("CLUSTER GETKEYSINSLOT", slot, MOST_KEYS)
    return keys


def moved(cluster: Cluster, source: Node, target: Node, slot: int) -> int:
    """Move a slot with its keys, as redis-cli does, but slowly; return how many keys it had."""
    target.ask("CLUSTER SETSLOT", slot, "IMPORTING", source.number())
    source.ask("CLUSTER SETSLOT", slot, "MIGRATING", target.number())
    keys = keys_in(source, slot)
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


def killed(cluster: Cluster, running: Running, primary: Node) -> int:
    """Kill a primary, and start it again when another node has its slots; return its keys."""
    keys = int(primary.ask("DBSIZE"))
    running.kill(primary.role)
    wait_for(lambda: len(cluster.with_slots()) == len(cluster.primaries), FAILOVER_S)
    primary.start()
    wait_for(cluster.is_well, FAILOVER_S)
    return keys

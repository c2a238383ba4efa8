"""A private Redis or Valkey Cluster: primaries with a replica each."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from redis.exceptions import ResponseError

from launch.processes import Processes, free_port
from launch.servers.base import Backend, Launcher
from launch.servers.redis import Redis

SLOTS = 2**14
NODE_TIMEOUT_S = 3
OPTIONS = (
    *("--cluster-enabled", "yes"),
    *("--cluster-node-timeout", str(NODE_TIMEOUT_S * 1000)),
    *("--cluster-require-full-coverage", "no"),
    # A replica that hasn't heard of its primary for the time-out and 10 s isn't promoted.
    *("--cluster-replica-validity-factor", "1"),
    *("--repl-backlog-size", "256mb"),
    *("--repl-diskless-sync-delay", "0"),
)


class Node(Redis):
    """A node, empty and alone until its cluster joins it."""

    def __init__(
        self, processes: Processes, folder: Path, launch: Launcher, *, number: int
    ) -> None:
        self.role = f"node{number}"  # type: ignore[misc]  # of its own, to be counted and stopped
        super().__init__(processes, folder, launch)
        self.bus_port = free_port()

    def command(self, binary: str) -> list[str]:
        return [*super().command(binary), *OPTIONS, "--cluster-port", str(self.bus_port)]

    def after_start(self) -> None:
        for pid in self.processes.pids(self.role):
            self.processes.account(Redis.role, pid)  # as part of all that Redis does

    def ask(self, *command: Any) -> Any:
        with self._client() as client:
            return client.execute_command(*command)

    def number(self) -> str:
        """Return what the cluster calls it."""
        return str(self.ask("CLUSTER MYID").decode())

    def itself(self) -> Mapping[str, Any]:
        """Return what it says of itself to the cluster."""
        told = self.ask("CLUSTER NODES").values()
        found: Mapping[str, Any] = next(it for it in told if "myself" in it["flags"])
        return found

    def slots(self) -> Sequence[int]:
        ranges = [list(map(int, it)) for it in self.itself()["slots"]]
        return [slot for it in ranges for slot in range(it[0], it[-1] + 1)]

    def filled_slots(self) -> Sequence[int]:
        """Return its slots that have keys."""
        slots = self.slots()
        with self._client() as client, client.pipeline(transaction=False) as pipeline:
            for slot in slots:
                pipeline.execute_command("CLUSTER COUNTKEYSINSLOT", slot)
            return [slot for slot, keys in zip(slots, pipeline.execute(), strict=True) if keys]


class Cluster(Backend):
    role = "nodes"

    def __init__(
        self, processes: Processes, folder: Path, launch: Launcher, *, primaries: int
    ) -> None:
        self.processes = processes
        self.nodes = [
            Node(processes, folder / f"node{number}", launch, number=number)
            for number in range(1, 2 * primaries + 1)
        ]
        self.primaries, self.replicas = self.nodes[:primaries], self.nodes[primaries:]

    @property
    def environment(self) -> dict[str, str]:
        nodes = ",".join(f"{it.address}:{it.port}" for it in self.nodes)
        return {"TIMELINE_URL": f"redis+cluster://{nodes}"}

    def check(self) -> None:
        self.nodes[0].check()

    def start(self) -> None:
        for node in self.nodes:
            node.start()
        self._divide_slots()
        self._meet()
        for replica, primary in zip(self.replicas, self.primaries, strict=True):
            self._wait_until(partial(_follows, replica, primary.number()))
        self._wait_until(self.is_well)

    def version(self) -> str:
        count = f"{len(self.primaries)} primaries, {len(self.replicas)} replicas"
        return f"{self.nodes[0].version()} Cluster, {count}"

    def is_well(self) -> bool:
        """Tell whether all nodes see a primary for every slot, and all replicas in sync."""
        return all(_sees(node, len(self.primaries)) and not _lags(node) for node in self.nodes)

    def with_slots(self) -> list[Node]:
        """Return the nodes that are primaries by now, of those that run."""
        return [it for it in self.nodes if self.processes.pids(it.role) and it.slots()]

    def replica_of(self, primary: Node) -> Node:
        number = primary.number()
        return next(it for it in self.nodes if it.itself()["master_id"] == number)

    def _divide_slots(self) -> None:
        count = len(self.primaries)
        starts = [SLOTS * number // count for number in range(count + 1)]
        for number, (node, (start, end)) in enumerate(
            zip(self.primaries, pairwise(starts), strict=True)
        ):
            node.ask("CLUSTER ADDSLOTSRANGE", start, end - 1)
            node.ask("CLUSTER SET-CONFIG-EPOCH", number + 1)

    def _meet(self) -> None:
        first, *others = self.nodes
        for node in others:
            first.ask("CLUSTER MEET", node.address, node.port, node.bus_port)
        count = str(len(self.nodes))
        self._wait_until(
            lambda: all(it.ask("CLUSTER INFO")["cluster_known_nodes"] == count for it in self.nodes)
        )

    def _wait_until(self, ready: Callable[[], bool]) -> None:
        self.processes.wait_until(self.nodes[0].role, ready, within_s=60)


def _follows(replica: Node, number: str) -> bool:
    """Make a node the replica of a primary, as soon as it knows it."""
    try:
        return bool(replica.ask("CLUSTER REPLICATE", number))
    except ResponseError:  # both still shake hands
        return False


def _lags(node: Node) -> bool:
    told = node.ask("INFO", "replication")
    return bool(told["role"] == "slave" and told["master_link_status"] != "up")


def _sees(node: Node, replicas: int) -> bool:
    told = node.ask("CLUSTER NODES").values()
    found = sum("slave" in it["flags"] and it["connected"] for it in told)
    return bool(found == replicas and node.ask("CLUSTER INFO")["cluster_state"] == "ok")

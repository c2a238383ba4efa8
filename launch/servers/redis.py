"""Redis or Valkey, and a cluster of them: primaries with a replica each."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import redis
from redis.exceptions import ResponseError

from launch.processes import Processes, free_port
from launch.servers.base import Backend, Server

KEEP_NOTHING = ("--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction")
KEEP_WRITES = ("--save", "", "--appendonly", "yes", "--appendfsync", "everysec")
SLOTS = 2**14
NODE_TIMEOUT_S = 3
CLUSTER_OPTIONS = (
    *("--cluster-enabled", "yes"),
    *("--cluster-node-timeout", str(NODE_TIMEOUT_S * 1000)),
    *("--cluster-require-full-coverage", "no"),
    # A replica that hasn't heard of its primary for the time-out and 10 s isn't promoted.
    *("--cluster-replica-validity-factor", "1"),
    *("--repl-backlog-size", "256mb"),
    *("--repl-diskless-sync-delay", "0"),
)


class Redis(Server):
    """Redis or Valkey; timelines in database 0, a broker in database 1."""

    role = "redis"
    binaries = ("redis-server", "valkey-server")
    kinds = ("redis", "valkey")
    chosen_by = "LAB_REDIS"
    package = "redis-server"
    image = "redis:7"
    image_port = 6379

    def __init__(
        self, processes: Processes, folder: Path, launcher: str, *, keeps_writes: bool = False
    ) -> None:
        super().__init__(processes, folder, launcher)
        self.persistence = KEEP_WRITES if keeps_writes else KEEP_NOTHING

    @property
    def environment(self) -> dict[str, str]:
        url = f"redis://{self.address}:{self.port}"
        return {"REDIS_URL": f"{url}/0", "BROKER_URL": f"{url}/1"}

    def command(self, binary: str) -> list[str]:
        place = ("--port", str(self.port), "--bind", self.address, "--dir", str(self.folder))
        return [binary, *place, *self.persistence, "--protected-mode", "no"]

    def container_command(self) -> Sequence[str]:
        return ("redis-server", *self.persistence)

    def is_ready(self) -> bool:
        try:
            with self._client() as client:
                return bool(client.ping())
        except redis.ConnectionError:
            return False

    def version(self) -> str:
        with self._client() as client:
            return redis_name(client.info("server"))

    def _client(self) -> redis.Redis:
        return redis.Redis(self.address, self.port, socket_timeout=2)


def redis_name(info: Mapping[str, Any]) -> str:
    """Return what a server is. Valkey says of itself that it is Redis 7.2.4, for old clients."""
    if info.get("server_name") == "valkey":
        return f"Valkey {info['valkey_version']}"
    return f"Redis {info['redis_version']}"


class Node(Redis):
    """A node, empty and alone until its cluster joins it."""

    def __init__(self, processes: Processes, folder: Path, launcher: str, *, number: int) -> None:
        self.role = f"node{number}"  # of its own, to be counted and stopped
        super().__init__(processes, folder, launcher)
        self.bus_port = free_port()

    def command(self, binary: str) -> list[str]:
        return [*super().command(binary), *CLUSTER_OPTIONS, "--cluster-port", str(self.bus_port)]

    def after_start(self) -> None:
        for pid in self.processes.pids(self.role):
            self.processes.account(Redis.role, pid)  # as part of all that Redis does

    def ask(self, *command: Any) -> Any:
        with self._client() as client:
            return client.execute_command(*command)

    def number(self) -> str:
        """Return its id in the cluster."""
        return str(self.ask("CLUSTER MYID").decode())

    def own_entry(self) -> Mapping[str, Any]:
        """Return its own entry in the node's list of the cluster."""
        entries = self.ask("CLUSTER NODES").values()
        own: Mapping[str, Any] = next(entry for entry in entries if "myself" in entry["flags"])
        return own

    def slots(self) -> Sequence[int]:
        ranges = [list(map(int, bounds)) for bounds in self.own_entry()["slots"]]
        return [slot for bounds in ranges for slot in range(bounds[0], bounds[-1] + 1)]

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
        self, processes: Processes, folder: Path, launcher: str, *, primaries: int
    ) -> None:
        self.processes = processes
        self.nodes = [
            Node(processes, folder / f"node{number}", launcher, number=number)
            for number in range(1, 2 * primaries + 1)
        ]
        self.primaries, self.replicas = self.nodes[:primaries], self.nodes[primaries:]

    @property
    def environment(self) -> dict[str, str]:
        nodes = ",".join(f"{node.address}:{node.port}" for node in self.nodes)
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
        """Return whether all nodes see a primary for every slot, and all replicas in sync."""
        return all(_sees(node, len(self.primaries)) and not _lags(node) for node in self.nodes)

    def with_slots(self) -> list[Node]:
        """Return the nodes that are primaries by now, of those that run."""
        return [node for node in self.nodes if self.processes.pids(node.role) and node.slots()]

    def replica_of(self, primary: Node) -> Node:
        number = primary.number()
        return next(node for node in self.nodes if node.own_entry()["master_id"] == number)

    def _divide_slots(self) -> None:
        count = len(self.primaries)
        starts = [SLOTS * number // count for number in range(count + 1)]
        bounds = zip(self.primaries, pairwise(starts), strict=True)
        for epoch, (node, (start, stop)) in enumerate(bounds, start=1):
            node.ask("CLUSTER ADDSLOTSRANGE", start, stop - 1)
            node.ask("CLUSTER SET-CONFIG-EPOCH", epoch)

    def _meet(self) -> None:
        first, *others = self.nodes
        for node in others:
            first.ask("CLUSTER MEET", node.address, node.port, node.bus_port)
        self._wait_until(lambda: all(map(self._knows_all, self.nodes)))

    def _knows_all(self, node: Node) -> bool:
        return bool(node.ask("CLUSTER INFO")["cluster_known_nodes"] == str(len(self.nodes)))

    def _wait_until(self, ready: Callable[[], bool]) -> None:
        self.processes.wait_until(self.nodes[0].role, ready, within_s=60)


def _follows(replica: Node, number: str) -> bool:
    """Make a node the replica of a primary; return False as long as it doesn't know the primary."""
    try:
        return bool(replica.ask("CLUSTER REPLICATE", number))
    except ResponseError:  # both still shake hands
        return False


def _lags(node: Node) -> bool:
    info = node.ask("INFO", "replication")
    return bool(info["role"] == "slave" and info["master_link_status"] != "up")


def _sees(node: Node, replicas: int) -> bool:
    entries = node.ask("CLUSTER NODES").values()
    connected = sum("slave" in entry["flags"] and entry["connected"] for entry in entries)
    return bool(connected == replicas and node.ask("CLUSTER INFO")["cluster_state"] == "ok")

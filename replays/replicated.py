"""A service whose MariaDB has read replicas, which follow it by global transaction ids."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from launch.processes import RunFailed
from launch.servers import INSTALLED
from launch.servers.base import Backend, installed
from launch.servers.mysql import MySQL
from launch.service import Seed, Service
from launch.variants import Variant

REPLICATED = ("--log-bin=binlog", "--server-id=1", "--binlog-format=ROW")
"""What makes a server a primary, whatever its profile says of the log."""
REPLICATING = (
    "--relay-log=relay",
    # Smaller than the primary: several of them share a machine with it.
    "--innodb-buffer-pool-size=256M",
    "--innodb-log-file-size=64M",
)
CATCH_UP_WITHIN_S = 60


def refuse_mysql() -> None:
    """Raise RunFailed if what would be started is MySQL, whose positions have another form."""
    binary = installed(MySQL)
    if binary and not binary.endswith("mariadbd"):
        raise RunFailed("read replicas need MariaDB: make servers, LAB_MYSQL=mariadb")


class Replica(MySQL):
    """Repeats what its primary did, from the first statement on; both have to be MariaDB."""

    def __init__(self, primary: MySQL, folder: Path, number: int, *, delay_s: int) -> None:
        super().__init__(
            primary.processes,
            folder,
            "local",
            profile=primary.profile.name,
            options=(f"--server-id={number + 1}", *REPLICATING),
        )
        self.primary = primary
        self.delay_s = delay_s

    def after_start(self) -> None:
        host, port = self.primary.address, self.primary.port
        with self.connect() as connection:
            cursor = connection.cursor()
            cursor.execute(
                f"CHANGE MASTER TO MASTER_HOST='{host}', MASTER_PORT={port}, MASTER_USER='root', "
                f"MASTER_USE_GTID=slave_pos, MASTER_DELAY={self.delay_s}"
            )
            cursor.execute("START SLAVE")

    def await_position(self, position: str, within_s: float) -> bool:
        """Return whether it got there in time."""
        with self.connect() as connection:
            cursor = connection.cursor()
            cursor.execute("SELECT MASTER_GTID_WAIT(%s, %s)", (position, within_s))
            return bool(cursor.fetchone()[0] == 0)


class Replicas(Backend):
    """All replicas of a primary, which has to be started, and empty, before them."""

    role = "database"

    def __init__(self, primary: MySQL, count: int, *, delay_s: int = 0) -> None:
        self.primary = primary
        self.servers = [
            Replica(primary, primary.folder.with_name(f"replica{number}"), number, delay_s=delay_s)
            for number in range(1, count + 1)
        ]

    @property
    def environment(self) -> dict[str, str]:
        urls = [server.environment["DATABASE_URL"] for server in self.servers]
        return {"REPLICA_URLS": ",".join(urls)}

    def start(self) -> None:
        for server in self.servers:
            server.start()

    def catch_up(self) -> None:
        with self.primary.connect() as connection:
            cursor = connection.cursor()
            cursor.execute("SELECT @@gtid_binlog_pos")
            (position,) = cursor.fetchone()
        for server in self.servers:
            if not server.await_position(position, CATCH_UP_WITHIN_S):
                raise RunFailed(f"a replica isn't up to date within {CATCH_UP_WITHIN_S} s")

    def version(self) -> str:
        return f"{self.primary.version()}, and {len(self.servers)} read replicas"


@dataclass(frozen=True)
class ReplicatedVariant(Variant):
    service: ClassVar[str] = "replays.replicated.ReplicatedService"

    replicas: int = 0
    """Read replicas of its MySQL server."""
    replica_delay_s: int = 0
    """How long the replicas wait before they do what the primary did."""


class ReplicatedService(Service):
    variant: ReplicatedVariant
    replicas: Replicas | None = None

    def __init__(
        self, variant: ReplicatedVariant, *arguments: Any, servers: str = "auto", **options: Any
    ) -> None:
        super().__init__(variant, *arguments, servers=servers, **options)
        self.replica_lag = self.folder / "replication.csv"
        """Written while the service runs, where it has replicas (``replays.replication``)."""
        if variant.replicas:
            self._add_replicas(servers)

    def _add_replicas(self, servers: str) -> None:
        if servers not in INSTALLED:
            raise RunFailed(f"--servers {servers} has no read replicas; installed binaries do")
        refuse_mysql()
        count, delay_s = self.variant.replicas, self.variant.replica_delay_s
        where, profile = self.folder / "mysql", self.variant.database.profile or ""
        primary = MySQL(self.processes, where, "local", profile=profile, options=REPLICATED)
        self.replicas = Replicas(primary, count, delay_s=delay_s)
        others = [server for server in self.servers if not isinstance(server, MySQL)]
        self.servers = [primary, self.replicas, *others]

    def prepare(self, seed: Seed, seeding: Sequence[Sequence[str]] = ()) -> None:
        super().prepare(seed, seeding)
        if self.replicas:
            self.replicas.catch_up()

    def start(self) -> None:
        super().start()
        if self.replicas:
            self.replica_lag.touch()
            watch = (sys.executable, "-m", "replays.replication", str(self.replica_lag))
            primary = str(self.replicas.primary.port)
            for replica in self.replicas.servers:
                self.processes.start("replication", [*watch, primary, str(replica.port)], {})

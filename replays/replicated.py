"""A service whose MariaDB or PostgreSQL has read replicas, which follow its log."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from launch.processes import RunFailed
from launch.servers import INSTALLED
from launch.servers.base import Backend, DatabaseServer, installed
from launch.servers.mysql import MySQL
from launch.servers.postgresql import PostgreSQL, as_user
from launch.service import Seed, Service
from launch.variants import Variant
from replays.positions import POSITIONS

CATCH_UP_WITHIN_S = 60


def refuse_mysql() -> None:
    """Raise RunFailed if what would be started is MySQL, whose positions have another form."""
    binary = installed(MySQL)
    if binary and not binary.endswith("mariadbd"):
        raise RunFailed("read replicas need MariaDB: make servers, LAB_MYSQL=mariadb")


class PostgreSQLPrimary(PostgreSQL):
    """Lets replicas in."""

    def prepare(self, binary: str) -> None:
        super().prepare(binary)
        with self._access.open("a") as access:
            access.write("host replication all samenet trust\n")


class Replica(DatabaseServer):
    """Repeats what its primary did, from the first statement on."""

    primary_class: ClassVar[type[DatabaseServer]]
    primary_options: ClassVar[Sequence[str]]
    """What makes a server a primary, whatever its profile says of the log."""
    replica_options: ClassVar[Sequence[str]]
    """Smaller than the primary: several of them share a machine with it."""

    def __init__(self, primary: DatabaseServer, number: int, *, delay_s: int) -> None:
        super().__init__(
            primary.processes,
            primary.folder.with_name(f"replica{number}"),
            "local",
            profile=primary.profile.name,
            options=[
                option.format(server_id=number + 1, delay_s=delay_s)
                for option in self.replica_options
            ],
        )
        self.primary = primary
        self.delay_s = delay_s

    def await_position(self, position: str, within_s: float) -> bool:
        """Return whether it got there in time."""
        with closing(self.connect()) as connection:
            return POSITIONS[self.engine].await_on(connection.cursor(), position, within_s)


class MariaDBReplica(Replica, MySQL):
    primary_class = MySQL
    primary_options = ("--log-bin=binlog", "--server-id=1", "--binlog-format=ROW")
    replica_options = (
        *("--server-id={server_id}", "--relay-log=relay"),
        *("--innodb-buffer-pool-size=256M", "--innodb-log-file-size=64M"),
    )

    def after_start(self) -> None:
        host, port = self.primary.address, self.primary.port
        with self.connect() as connection:
            cursor = connection.cursor()
            cursor.execute(
                f"CHANGE MASTER TO MASTER_HOST='{host}', MASTER_PORT={port}, MASTER_USER='root', "
                f"MASTER_USE_GTID=slave_pos, MASTER_DELAY={self.delay_s}"
            )
            cursor.execute("START SLAVE")


class PostgreSQLReplica(Replica, PostgreSQL):
    primary_class = PostgreSQLPrimary
    # With synchronous_commit=off commits leave the primary when the writer of its log wakes up.
    primary_options = ("--wal_writer_delay=10ms",)
    replica_options = ("--shared_buffers=256MB", "--recovery_min_apply_delay={delay_s}s")

    def prepare(self, binary: str) -> None:
        if not self.data.exists():
            primary = f"host={self.primary.address} port={self.primary.port} user=postgres"
            copy = (
                *(str(Path(binary).resolve().with_name("pg_basebackup")), f"--pgdata={self.data}"),
                *(f"--dbname={primary}", "--write-recovery-conf", "--checkpoint=fast"),
                *("--create-slot", f"--slot={self.folder.name}", "--no-sync"),
            )
            self.processes.call("postgresql-copy", [*as_user(), *copy], self.local_environment())
        super().prepare(binary)


REPLICAS: Mapping[str, type[Replica]] = {
    replica.engine: replica for replica in (MariaDBReplica, PostgreSQLReplica)
}


class Replicas(Backend):
    """All replicas of a primary, which has to be started, and empty, before them."""

    role = "database"

    def __init__(self, primary: DatabaseServer, count: int, *, delay_s: int = 0) -> None:
        self.primary = primary
        replica = REPLICAS[primary.engine]
        self.servers = [replica(primary, n, delay_s=delay_s) for n in range(1, count + 1)]

    @property
    def environment(self) -> dict[str, str]:
        urls = [server.environment["DATABASE_URL"] for server in self.servers]
        return {"REPLICA_URLS": ",".join(urls)}

    def start(self) -> None:
        for server in self.servers:
            server.start()

    def catch_up(self) -> None:
        with closing(self.primary.connect()) as connection:
            position = POSITIONS[self.primary.engine].of_primary(connection.cursor())
        for server in self.servers:
            if not server.await_position(position, CATCH_UP_WITHIN_S):
                raise RunFailed(f"a replica isn't up to date within {CATCH_UP_WITHIN_S} s")

    def version(self) -> str:
        return f"{self.primary.version()}, and {len(self.servers)} read replicas"


@dataclass(frozen=True)
class ReplicatedVariant(Variant):
    service: ClassVar[str] = "replays.replicated.ReplicatedService"

    replicas: int = 0
    """Read replicas of its database server."""
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
        database = self.variant.database
        if database.engine == MySQL.engine:
            refuse_mysql()
        kind = REPLICAS[database.engine]
        primary = kind.primary_class(
            self.processes,
            self.folder / database.engine,
            "local",
            profile=database.profile or "",
            options=kind.primary_options,
        )
        count, delay_s = self.variant.replicas, self.variant.replica_delay_s
        self.replicas = Replicas(primary, count, delay_s=delay_s)
        others = [server for server in self.servers if not isinstance(server, DatabaseServer)]
        self.servers = [primary, self.replicas, *others]

    def prepare(self, seed: Seed, seeding: Sequence[Sequence[str]] = ()) -> None:
        super().prepare(seed, seeding)
        if self.replicas:
            self.replicas.catch_up()

    def start(self) -> None:
        super().start()
        if self.replicas:
            self.replica_lag.touch()
            primary = self.replicas.primary
            watch = (sys.executable, "-m", "replays.replication", str(self.replica_lag))
            watched = (*watch, primary.engine, str(primary.port))
            for replica in self.replicas.servers:
                self.processes.start("replication", [*watched, str(replica.port)], {})

import os
import signal
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import psycopg
from psycopg.rows import TupleRow

from launch.servers.base import DatabaseServer

CREATION = "CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"
"""What makes a database for any text, compared and ordered by its bytes, as on SQLite."""
AS_POSTGRES = (
    *("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"),
    *("--inh-caps=+dac_override", "--ambient-caps=+dac_override"),
)
"""Runs what follows as the user that the package made, who may enter root's folders."""
IN_ENGLISH = {"LC_ALL": "C"}


class PostgreSQL(DatabaseServer):
    """PostgreSQL with one of the profiles that compose uses too."""

    engine = "postgresql"
    binaries = ("postgres",)
    package = "postgresql"
    image = "postgres:15"
    image_port = 5432
    stop_signal = signal.SIGINT  # on SIGTERM it would wait for its clients

    @property
    def environment(self) -> dict[str, str]:
        return {"DATABASE_URL": f"postgres://feed@{self.address}:{self.port}/feed"}

    def prepare(self, binary: str) -> None:
        self._access.write_text("host all all samenet trust\n")
        if self.data.exists():
            return  # started again
        options = ("--username=postgres", "--encoding=UTF8", "--locale=C", "--no-sync")
        initdb = (str(Path(binary).with_name("initdb")), f"--pgdata={self.data}", *options)
        self.processes.call("postgresql-init", [*as_user(), *initdb], IN_ENGLISH)

    def command(self, binary: str) -> list[str]:
        return [
            *(*as_user(), binary, "-D", str(self.data), f"--config_file={self.profile}"),
            *(f"--port={self.port}", f"--listen_addresses={self.address}"),
            *(f"--hba_file={self._access}", "--unix_socket_directories="),
            *self.options,
        ]

    def local_environment(self) -> dict[str, str]:
        return IN_ENGLISH

    def container_options(self) -> Sequence[str]:
        return (
            f"--volume={self.profile}:/etc/feed.conf:ro",
            "--env=POSTGRES_HOST_AUTH_METHOD=trust",
            "--shm-size=256m",  # parallel queries share memory
        )

    def container_command(self) -> Sequence[str]:
        return ("postgres", "--config_file=/etc/feed.conf", "--listen_addresses=*")

    @property
    def _access(self) -> Path:
        return self.folder / "access.conf"

    def is_ready(self) -> bool:
        try:
            self.connect(database="postgres").close()
        except psycopg.OperationalError:
            return False
        return True

    def after_start(self) -> None:
        with closing(self.connect(database="postgres")) as connection:
            if not connection.execute("SELECT FROM pg_roles WHERE rolname = 'feed'").rowcount:
                connection.execute("CREATE ROLE feed LOGIN CREATEDB")  # tests create databases
                connection.execute(CREATION.format("feed OWNER feed"))

    def version(self) -> str:
        with closing(self.connect()) as connection:
            ((version,),) = connection.execute("SHOW server_version").fetchall()
            return postgresql_name(version)

    def connect(self, *, database: str = "feed") -> psycopg.Connection[TupleRow]:
        return psycopg.connect(
            host=self.address,
            port=self.port,
            user="postgres",
            dbname=database,
            connect_timeout=2,
            autocommit=True,
        )


def postgresql_name(version: str) -> str:
    """Return what a server that says 15.18 (Debian 15.18-0+deb12u1) is: PostgreSQL 15.18."""
    return f"PostgreSQL {version.partition(' ')[0]}"


def as_user() -> Sequence[str]:
    """Return what makes root another user: PostgreSQL refuses to run as root."""
    return AS_POSTGRES if os.geteuid() == 0 else ()

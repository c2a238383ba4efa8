import getpass
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import MySQLdb

from lab.processes import Processes, RunFailed
from lab.servers.base import Launcher, Server
from lab.servers.launchers import find_binary

PROFILES = Path("compose/mysql").resolve()


class MySQL(Server):
    """MySQL or MariaDB with one of the profiles that compose uses too."""

    role = "database"
    binaries = ("mariadbd", "mysqld")
    package = "mariadb-server"
    image = "mariadb:10.11"
    image_port = 3306

    def __init__(
        self,
        processes: Processes,
        folder: Path,
        launch: Launcher,
        *,
        profile: str,
        options: Sequence[str] = (),
    ) -> None:
        super().__init__(processes, folder, launch)
        self.profile = PROFILES / profile
        self.options = options
        self.data = folder / "data"

    @property
    def environment(self) -> dict[str, str]:
        return {"DATABASE_URL": f"mysql://root@127.0.0.1:{self.port}/feed"}

    def prepare(self, binary: str) -> None:
        if self.data.exists():
            return  # started again
        if not binary.endswith("mariadbd"):
            self.processes.call("mysql-init", [binary, *self._where(), "--initialize-insecure"], {})
            return
        installer = find_binary("mariadb-install-db")
        if installer is None:
            raise RunFailed(f"mariadb-install-db is not installed: apt-get install {self.package}")
        only = ("--auth-root-authentication-method=normal", "--skip-test-db")
        self.processes.call("mysql-init", [installer, "--no-defaults", *self._where(), *only], {})

    def command(self, binary: str) -> list[str]:
        return [
            *(binary, f"--defaults-file={self.profile}", *self._where()),
            *(f"--port={self.port}", "--bind-address=127.0.0.1"),
            *(f"--socket={self.folder}/mysql.sock", f"--pid-file={self.folder}/mysql.pid"),
            *self.options,
        ]

    def container_options(self) -> Sequence[str]:
        return (
            f"--volume={self.profile}:/etc/mysql/conf.d/feed.cnf:ro",
            "--env=MARIADB_ALLOW_EMPTY_ROOT_PASSWORD=1",
        )

    def is_ready(self) -> bool:
        try:
            self.connect().close()
        except MySQLdb.OperationalError:
            return False
        return True

    def after_start(self) -> None:
        with self.connect() as connection:
            connection.cursor().execute("CREATE DATABASE IF NOT EXISTS feed")

    def version(self) -> str:
        with self.connect() as connection:
            return str(connection.get_server_info())

    def _where(self) -> list[str]:
        # A server that starts removes the temporary tables of others from a folder that they share.
        places = (f"--datadir={self.data}", f"--tmpdir={self.folder}")
        return [*places, f"--user={getpass.getuser()}"]

    def connect(self) -> Any:
        return MySQLdb.connect(host="127.0.0.1", port=self.port, user="root", connect_timeout=2)

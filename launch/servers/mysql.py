import getpass
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import MySQLdb

from launch.processes import HERE, RunFailed
from launch.servers.base import DatabaseServer, differences, find_binary

CREATION = "CREATE DATABASE IF NOT EXISTS {} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
"""What makes a database for any text; as on SQLite, texts are equal if identical."""
ROOT_OVER_TCP = (
    "CREATE USER IF NOT EXISTS root@'{0}';\nGRANT ALL ON *.* TO root@'{0}' WITH GRANT OPTION;\n"
)
"""Without it MySQL knows root@localhost only, which is nobody where names aren't looked up."""


class MySQL(DatabaseServer):
    """MySQL or MariaDB with one of the profiles that compose uses too."""

    engine = "mysql"
    binaries = ("mariadbd", "mysqld")
    kinds = ("mariadb", "mysql")
    chosen_by = "LAB_MYSQL"
    package = "mariadb-server"
    image = "mariadb:10.11"
    image_port = 3306

    @property
    def environment(self) -> dict[str, str]:
        return {"DATABASE_URL": f"mysql://root@{self.address}:{self.port}/feed"}

    def prepare(self, binary: str) -> None:
        self._init_file.write_text(ROOT_OVER_TCP.format(HERE if self._is_here else "%"))
        if self.data.exists():
            return  # started again
        if not binary.endswith("mariadbd"):
            self._initialize(binary, "--initialize-insecure", f"--init-file={self._init_file}")
            return
        installer = find_binary("mariadb-install-db")
        if installer is None:
            raise RunFailed(f"mariadb-install-db is not installed: apt-get install {self.package}")
        options = ("--auth-root-authentication-method=normal", "--skip-test-db")
        self._initialize(installer, *options)

    def _initialize(self, program: str, *options: str) -> None:
        command = [program, "--no-defaults", *self._places(), *options]
        self.processes.call("mysql-init", command, {})

    def command(self, binary: str) -> list[str]:
        return [
            *(binary, f"--defaults-file={self.profile}", *self._places()),
            *(f"--port={self.port}", f"--bind-address={self.address}", "--loose-mysqlx=OFF"),
            *(() if self._is_here else ("--skip-name-resolve", f"--init-file={self._init_file}")),
            *(f"--socket={self.folder}/mysql.sock", f"--pid-file={self.folder}/mysql.pid"),
            *self.options,
        ]

    def container_options(self) -> Sequence[str]:
        return (
            f"--volume={self.profile}:/etc/mysql/conf.d/feed.cnf:ro",
            "--env=MARIADB_ALLOW_EMPTY_ROOT_PASSWORD=1",
        )

    @property
    def _is_here(self) -> bool:
        return self.address == HERE

    @property
    def _init_file(self) -> Path:
        return self.folder / "first.sql"

    def is_ready(self) -> bool:
        try:
            self.connect().close()
        except MySQLdb.OperationalError:
            return False
        return True

    def after_start(self) -> None:
        """Make the database. Raises RunFailed if the server changed its options, as it does where
        few files may be open."""
        with self.connect() as connection:
            cursor = connection.cursor()
            cursor.execute(CREATION.format("feed"))
            cursor.execute("SHOW GLOBAL VARIABLES")
            named = dict(map(_named_value, self.options))
            numeric = {name: value for name, value in named.items() if value[:1].isdigit()}
            wrong = differences(numeric, dict(cursor.fetchall()))
        if wrong:
            raise RunFailed(f"the database took other options: {', '.join(wrong)} (ulimit -n?)")

    def version(self) -> str:
        with self.connect() as connection:
            return mysql_name(connection.get_server_info())

    def _places(self) -> list[str]:
        # A server that starts removes the temporary tables of others from a folder that they share.
        places = (f"--datadir={self.data}", f"--tmpdir={self.folder}")
        return [*places, f"--secure-file-priv={self.folder}", f"--user={getpass.getuser()}"]

    def connect(self) -> Any:
        return MySQLdb.connect(host=self.address, port=self.port, user="root", connect_timeout=2)


def _named_value(option: str) -> tuple[str, str]:
    name, _, value = option.removeprefix("--").replace("-", "_").partition("=")
    return name, value


def mysql_name(version: str) -> str:
    """Return what a server that says 10.11.19-MariaDB-0+deb12u1 is: MariaDB 10.11.19."""
    kind = "MariaDB" if "MariaDB" in version else "MySQL"
    return f"{kind} {version.removeprefix('5.5.5-').partition('-')[0]}"

"""Private servers for a run, started from whatever is installed."""

import getpass
import shutil
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import MySQLdb
import redis

from lab.processes import Processes, RunFailed, free_port

SBIN = "/usr/sbin:/usr/local/sbin:/sbin"


class Server(ABC):
    """A server on 127.0.0.1 with its files in ``folder``."""

    role: str
    """What its CPU is counted as."""
    binaries: tuple[str, ...]
    """Any of these will do, the first that is installed."""
    package: str
    """Debian's."""

    def __init__(self, processes: Processes, folder: Path) -> None:
        self.processes = processes
        self.folder = folder
        self.port = free_port()

    @property
    @abstractmethod
    def environment(self) -> dict[str, str]:
        """What the service has to know to find it."""

    @abstractmethod
    def command(self, binary: str) -> list[str]: ...

    @abstractmethod
    def is_ready(self) -> bool: ...

    @abstractmethod
    def version(self) -> str: ...

    def start(self) -> None:
        """Start it and wait until it answers. Raises RunFailed."""
        self.folder.mkdir(parents=True, exist_ok=True)
        binary = find_binary(self.binaries, self.package)
        self.before(binary)
        self.processes.start(self.role, self.command(binary), {})
        self.processes.wait_until(self.role, self.is_ready)
        self.after()

    def before(self, binary: str) -> None:  # noqa: B027
        """Do what has to be done before the first start."""

    def after(self) -> None:  # noqa: B027
        """Do what needs the running server."""


class MySQL(Server):
    """MySQL or MariaDB with one of the profiles that compose uses too."""

    role = "database"
    binaries = ("mariadbd", "mysqld")
    package = "mariadb-server"

    def __init__(self, processes: Processes, folder: Path, profile: Path) -> None:
        super().__init__(processes, folder)
        self.profile = profile
        self.data = folder / "data"

    @property
    def environment(self) -> dict[str, str]:
        return {"DATABASE_URL": f"mysql://root@127.0.0.1:{self.port}/feed"}

    def before(self, binary: str) -> None:
        if self.data.exists():
            return  # started again
        if binary.endswith("mariadbd"):
            installer = find_binary(("mariadb-install-db",), self.package)
            only = ("--auth-root-authentication-method=normal", "--skip-test-db")
            self.processes.call(
                "mysql-init", [installer, "--no-defaults", *self._where(), *only], {}
            )
        else:
            self.processes.call("mysql-init", [binary, *self._where(), "--initialize-insecure"], {})

    def command(self, binary: str) -> list[str]:
        return [
            *(binary, f"--defaults-file={self.profile.resolve()}", *self._where()),
            *(f"--port={self.port}", "--bind-address=127.0.0.1"),
            *(f"--socket={self.folder}/mysql.sock", f"--pid-file={self.folder}/mysql.pid"),
        ]

    def is_ready(self) -> bool:
        try:
            self._connect().close()
        except MySQLdb.OperationalError:
            return False
        return True

    def after(self) -> None:
        with self._connect() as connection:
            connection.cursor().execute("CREATE DATABASE IF NOT EXISTS feed")

    def version(self) -> str:
        with self._connect() as connection:
            return str(connection.get_server_info())

    def _where(self) -> list[str]:
        return [f"--datadir={self.data}", f"--user={getpass.getuser()}"]

    def _connect(self) -> Any:
        return MySQLdb.connect(host="127.0.0.1", port=self.port, user="root", connect_timeout=2)


class Redis(Server):
    """Redis or Valkey, in memory only; timelines in database 0, a broker in database 1."""

    role = "redis"
    binaries = ("redis-server", "valkey-server")
    package = "redis-server"

    @property
    def environment(self) -> dict[str, str]:
        url = f"redis://127.0.0.1:{self.port}"
        return {"REDIS_URL": f"{url}/0", "BROKER_URL": f"{url}/1"}

    def command(self, binary: str) -> list[str]:
        return [
            *(binary, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder)),
            *("--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction"),
        ]

    def is_ready(self) -> bool:
        try:
            return bool(self._client().ping())
        except redis.ConnectionError:
            return False

    def version(self) -> str:
        return str(self._client().info("server")["redis_version"])

    def _client(self) -> redis.Redis:
        return redis.Redis(port=self.port, socket_timeout=2)


def find_binary(names: tuple[str, ...], package: str) -> str:
    """Return the path of the first that is installed. Raises RunFailed, naming the package."""
    for name in names:
        path = shutil.which(name) or shutil.which(name, path=SBIN)
        if path:
            return path
    raise RunFailed(f"{' or '.join(names)} is not installed: apt-get install {package}")

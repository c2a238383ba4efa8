"""Servers of a run, and how private ones are started: as installed binaries or as containers."""

import os
import shutil
import signal
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from launch.processes import Processes, RunFailed, free_port

SBIN = "/usr/sbin:/usr/local/sbin:/sbin"
POSTGRESQL = Path("/usr/lib/postgresql")
"""Debian's folder of PostgreSQL, with a folder for each version."""
UNPACKED = Path(".mysql/bin").resolve()
"""Folder that ``make mysql`` creates."""
UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}
LAUNCHERS = ("auto", "local", "docker")
"""Ways to start a private server; auto: its installed binary, or a container without one."""


class Backend(ABC):
    """A server that a run needs, private or external."""

    role: str
    """Role under which its CPU and memory are counted."""
    is_external: ClassVar[bool] = False
    """Not started here, so that neither CPU nor memory can be measured."""

    @property
    @abstractmethod
    def environment(self) -> dict[str, str]:
        """Environment variables of the service."""

    def check(self) -> None:  # noqa: B027  an external server is checked when it is named
        """Raise RunFailed if it can't be started on this machine; nothing is started."""

    @abstractmethod
    def start(self) -> None:
        """Return when it answers, with nothing in it. Raises RunFailed."""

    @abstractmethod
    def version(self) -> str: ...


class Server(Backend):
    """A private server, started as an installed binary or as a container."""

    binaries: ClassVar[tuple[str, ...]]
    """Names of the binary; the first that is installed is used."""
    kinds: ClassVar[tuple[str, ...]] = ()
    """Values of ``chosen_by`` for each of them."""
    chosen_by: ClassVar[str] = ""
    """The environment variable that chooses one of them."""
    kind: str | None = None
    """The one without that choice; None: the first that is installed."""
    package: ClassVar[str]
    """Debian package."""
    image: ClassVar[str]
    """Image of a container, the same as in compose."""
    image_port: ClassVar[int]
    """Port inside the container."""
    stop_signal: ClassVar[signal.Signals] = signal.SIGTERM
    """What ends it though clients are connected."""

    def __init__(self, processes: Processes, folder: Path, launcher: str) -> None:
        """``launcher``: one of LAUNCHERS."""
        self.processes = processes
        self.folder = folder
        self.launcher = launcher
        self.port = free_port()
        self.address = processes.address(self.role)
        self.added_environment: Mapping[str, str] = {}
        """Further environment variables of an installed binary."""

    @abstractmethod
    def is_ready(self) -> bool: ...

    def prepare(self, binary: str) -> None:
        """Prepare the first start of an installed binary."""

    @abstractmethod
    def command(self, binary: str) -> list[str]:
        """Return what starts an installed binary on ``port``, with its files in ``folder``."""

    def local_environment(self) -> dict[str, str]:
        """Return environment variables of an installed binary."""
        return {}

    def container_options(self) -> Sequence[str]:
        """Return the options of ``docker run`` beside name and port."""
        return ()

    def container_command(self) -> Sequence[str]:
        """Return what the container runs, where its image's own command isn't right."""
        return ()

    def check(self) -> None:
        if is_local(self):
            _binary(self)
        else:
            _check_container(self)

    def start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        if is_local(self):
            start_local(self)
        else:
            start_container(self)
        self.processes.wait_until(self.role, self.is_ready, within_s=60)
        self.after_start()

    def after_start(self) -> None:
        """Finish what needs the running server."""


class DatabaseServer(Server):
    """A private server of a database, with one of the profiles that compose uses too."""

    role = "database"
    engine: ClassVar[str]
    """Name of the folder in compose/ that has its profiles."""

    def __init__(
        self,
        processes: Processes,
        folder: Path,
        launcher: str,
        *,
        profile: str,
        options: Sequence[str] = (),
    ) -> None:
        """``options``: of the server's command line, after the profile."""
        super().__init__(processes, folder, launcher)
        self.profile = profile_of(self.engine, profile)
        self.options = options
        self.data = folder / "data"

    @abstractmethod
    def connect(self) -> Any:
        """Return a connection of a superuser."""


def profile_of(engine: str, name: str) -> Path:
    """Return the file of a profile."""
    return Path("compose", engine, name).resolve()


def differences(expected: Mapping[str, str], settings: Mapping[str, str]) -> list[str]:
    """Return in which settings a server differs from what was configured."""
    return [
        f"{name} is {settings[name]}, not {value}"
        for name, value in expected.items()
        if settings[name] not in (value, _bytes(value))
    ]


def _bytes(size: str) -> str:
    """Return 2G as MySQL says it, 2147483648."""
    unit = UNITS.get(size[-1:])
    return str(int(size[:-1]) * unit) if unit else size


def is_local(server: Server) -> bool:
    """Return whether an installed binary is started, not a container."""
    if server.launcher == "auto":
        return bool(installed(server)) or not docker_answers()
    return server.launcher == "local"


def _binary(server: Server) -> str:
    """Return the path of a server's binary. Raises RunFailed without one."""
    binary = installed(server)
    if binary is None:
        raise RunFailed(
            f"{' or '.join(server.binaries)} is not installed: make servers, "
            f"or apt-get install {server.package}"
        )
    return binary


def start_local(server: Server) -> None:
    """Start an installed binary."""
    binary = _binary(server)
    server.prepare(binary)
    server.processes.start(
        server.role,
        server.command(binary),
        {**server.local_environment(), **server.added_environment},
        stop_signal=server.stop_signal,
    )


def _check_container(server: Server) -> None:
    """Raise RunFailed without an engine, or if another server than the image's is asked for."""
    if not docker_answers():
        raise RunFailed(
            "no Docker engine answers (docker info): start one, or take installed binaries with "
            "--servers local"
        )
    kind = chosen(server)
    if kind and not server.image.startswith(kind):
        raise RunFailed(f"{server.chosen_by}={kind}, but containers are of {server.image}")


def start_container(server: Server) -> None:
    """Start a container, which goes when its ``docker run`` is ended."""
    _check_container(server)
    name = f"lab-{server.role}-{server.port}"
    port = f"127.0.0.1:{server.port}:{server.image_port}"
    server.processes.start(
        server.role,
        [
            *("docker", "run", "--rm", f"--name={name}", f"--publish={port}"),
            *server.container_options(),
            *(server.image, *server.container_command()),
        ],
        {},
        stop_signal=server.stop_signal,
    )
    server.processes.wait_until(server.role, lambda: bool(_main_pid(name)), within_s=60)
    server.processes.account(server.role, _main_pid(name))


def chosen(server: Server | type[Server]) -> str | None:
    """Return the kind that the environment or the server names, if any.

    Raises RunFailed if it is unknown.
    """
    kind = os.environ.get(server.chosen_by) or server.kind
    if kind and kind not in server.kinds:
        raise RunFailed(f"{server.chosen_by}={kind} is none of {', '.join(server.kinds)}")
    return kind


def installed(server: Server | type[Server]) -> str | None:
    """Return the path of a server's binary. Raises RunFailed if the chosen one isn't there."""
    kind = chosen(server)
    if kind is None:
        return find_binary(*server.binaries)
    name = server.binaries[server.kinds.index(kind)]
    path = find_binary(name)
    # Packages link the names of what they replace: MariaDB's mysqld is mariadbd.
    if path is None or Path(path).resolve().name in {*server.binaries} - {name}:
        raise RunFailed(f"{server.chosen_by}={kind} isn't installed: make servers, make mysql")
    return path


def find_binary(*names: str) -> str | None:
    """Return the path of the first that is there."""
    versions = sorted(map(str, POSTGRESQL.glob("*/bin")), reverse=True)
    for name in names:
        for folders in (str(UNPACKED), None, SBIN, ":".join(versions)):
            if path := shutil.which(name, path=folders):
                return path
    return None


def _main_pid(container: str) -> int:
    """Return the first process of a container that runs, as this machine numbers it; else 0."""
    command = ("docker", "inspect", "--format={{.State.Pid}}", container)
    return int(subprocess.run(command, capture_output=True, text=True).stdout.strip() or 0)


def docker_answers() -> bool:
    if not shutil.which("docker"):
        return False
    return subprocess.run(("docker", "info"), capture_output=True).returncode == 0

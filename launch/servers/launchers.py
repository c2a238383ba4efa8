"""Launchers of private servers: installed binaries, or the images of compose."""

import os
import shutil
import subprocess
from pathlib import Path

from launch.processes import RunFailed
from launch.servers.base import Launcher, Server

SBIN = "/usr/sbin:/usr/local/sbin:/sbin"
UNPACKED = Path(".mysql/bin").resolve()
"""Folder that ``make mysql`` creates."""


def _binary(server: Server) -> str:
    """Return the path of a server's binary. Raises RunFailed without one."""
    binary = installed(server)
    if binary is None:
        raise RunFailed(
            f"{' or '.join(server.binaries)} is not installed: make servers, "
            f"or apt-get install {server.package}"
        )
    return binary


def local(server: Server) -> None:
    """Start an installed binary."""
    binary = _binary(server)
    server.prepare(binary)
    server.processes.start(server.role, server.command(binary), server.local_environment())


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


def container(server: Server) -> None:
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
    )
    server.processes.wait_until(server.role, lambda: bool(_main_pid(name)), within_s=60)
    server.processes.account(server.role, _main_pid(name))


LOCAL = Launcher(local, _binary)
CONTAINER = Launcher(container, _check_container)


def _found(server: Server) -> Launcher:
    """Return the launcher of what is there: an installed binary, else a container."""
    return LOCAL if installed(server) or not docker_answers() else CONTAINER


AUTO = Launcher(lambda server: _found(server).start(server), lambda it: _found(it).check(it))
LAUNCHERS: dict[str, Launcher] = {"auto": AUTO, "local": LOCAL, "docker": CONTAINER}


def chosen(server: Server | type[Server]) -> str | None:
    """Return the kind that the environment asks for, if any. Raises RunFailed if it is unknown."""
    kind = os.environ.get(server.chosen_by) or None
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
    for name in names:
        for folders in (str(UNPACKED), None, SBIN):
            if path := shutil.which(name, path=folders):
                return path
    return None


def _main_pid(container: str) -> int:
    """Return the first process of a container that runs, as this machine numbers it; else 0."""
    asked = ("docker", "inspect", "--format={{.State.Pid}}", container)
    return int(subprocess.run(asked, capture_output=True, text=True).stdout.strip() or 0)


def docker_answers() -> bool:
    """Return whether a Docker engine answers."""
    if not shutil.which("docker"):
        return False
    return subprocess.run(("docker", "info"), capture_output=True).returncode == 0

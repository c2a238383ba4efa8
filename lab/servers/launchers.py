"""How private servers are started: from installed binaries, or from the images of compose."""

import shutil
import subprocess

from lab.processes import RunFailed
from lab.servers.base import Launcher, Server

SBIN = "/usr/sbin:/usr/local/sbin:/sbin"


def local(server: Server) -> None:
    """Start an installed binary."""
    binary = find_binary(*server.binaries)
    if binary is None:
        raise RunFailed(
            f"{' or '.join(server.binaries)} is not installed: make servers, "
            f"or apt-get install {server.package}"
        )
    server.prepare(binary)
    server.processes.start(server.role, server.command(binary), server.local_environment())


def container(server: Server) -> None:
    """Start a container, which goes when its ``docker run`` is ended."""
    if not docker_answers():
        raise RunFailed("no Docker engine answers (docker info)")
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


def auto(server: Server) -> None:
    """Start what is there: an installed binary, else a container."""
    installed = find_binary(*server.binaries)
    (local if installed or not docker_answers() else container)(server)


LAUNCHERS: dict[str, Launcher] = {"auto": auto, "local": local, "docker": container}


def find_binary(*names: str) -> str | None:
    """Return the path of the first that is installed."""
    for name in names:
        path = shutil.which(name) or shutil.which(name, path=SBIN)
        if path:
            return path
    return None


def _main_pid(container: str) -> int:
    """Return the first process of a container that runs, as this machine numbers it; else 0."""
    asked = ("docker", "inspect", "--format={{.State.Pid}}", container)
    return int(subprocess.run(asked, capture_output=True, text=True).stdout.strip() or 0)


def docker_answers() -> bool:
    """Tell whether there is an engine, not only a client."""
    if not shutil.which("docker"):
        return False
    return subprocess.run(("docker", "info"), capture_output=True).returncode == 0

"""Claims of ports, so that two laboratories don't share one."""

import errno
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import psutil

from launch.processes import RunFailed


class PortTaken(RunFailed):
    """Another process listens on the port, or has claimed it."""


@contextmanager
def claimed(port: int) -> Generator[None]:
    """Keep a port of 127.0.0.1 from other laboratories. Raises PortTaken if it is in use.

    App servers share a port (--reuse-port), so a second laboratory's would start beside ours and
    take half of the requests. The claim is an abstract socket, which ends with the process.
    """
    with socket.socket(socket.AF_UNIX) as claim:
        _bind(claim, f"\0feed-fanout lab, port {port}", port, "another laboratory")
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # beside TIME_WAIT
            _bind(probe, ("127.0.0.1", port), port, "another program")
        yield


def _bind(sock: socket.socket, address: str | tuple[str, int], port: int, holder: str) -> None:
    try:
        sock.bind(address)
    except (OSError, OverflowError) as error:
        if getattr(error, "errno", None) != errno.EADDRINUSE:
            raise RunFailed(f"can't listen on 127.0.0.1:{port}: {error}") from error
        raise PortTaken(
            f"127.0.0.1:{port} is in use by {_listener(port) or holder}; choose another with --port"
        ) from None


def _listener(port: int) -> str | None:
    """Return the command and the pid of a process that listens there, if we may see it."""
    for listener in psutil.net_connections("tcp"):
        is_on_port = listener.status == psutil.CONN_LISTEN and listener.laddr[1:] == (port,)
        if is_on_port and listener.pid:
            try:
                return _described(psutil.Process(listener.pid))
            except psutil.Error:
                return None
    return None


def _described(process: psutil.Process) -> str:
    """Describe a process, or the parent that it was forked from."""
    command, parent = process.cmdline(), process.parent()
    if parent and parent.cmdline() == command:
        return _described(parent)
    program, *arguments = command or [process.name()]
    return f"{' '.join([Path(program).name, *arguments])} (pid {process.pid})"

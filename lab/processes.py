"""Starting processes for a run, watching them, and leaving none behind."""

import os
import signal
import socket
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

LOG_TAIL_LINES = 15
STOP_WITHIN_S = 15


class RunFailed(Exception):
    """A run that can't go on; the message says why, with the end of the log."""


class Processes:
    """The processes of a run, by role, each role with a log. Leaving the block ends them all."""

    def __init__(self, logs: Path) -> None:
        self.logs = logs
        self._started: defaultdict[str, list[subprocess.Popen[bytes]]] = defaultdict(list)

    def __enter__(self) -> Self:
        self.logs.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for role in reversed(list(self._started)):
            self.stop(role)

    def start(
        self, role: str, argv: Sequence[str], env: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        """Start a process in a session of its own, so that Ctrl-C reaches it through us only."""
        with self._log(role).open("ab") as log:
            process = subprocess.Popen(
                argv, env={**os.environ, **env}, stdout=log, stderr=log, start_new_session=True
            )
        self._started[role].append(process)
        return process

    def call(
        self, role: str, argv: Sequence[str], env: Mapping[str, str], *, ok: Sequence[int] = (0,)
    ) -> str:
        """Run a command to its end and return its output. Raises RunFailed on other exit codes."""
        with self._log(role).open("ab") as log:
            process = subprocess.Popen(
                argv,
                env={**os.environ, **env},
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
            self._started[role].append(process)
            output, _ = process.communicate()
        self._started[role].remove(process)
        if process.returncode not in ok:
            raise RunFailed(f"{role} ended with status {process.returncode}: {self.log_tail(role)}")
        return output.decode()

    def wait_until(self, role: str, ready: Callable[[], bool], *, within_s: float = 30) -> None:
        """Wait for a started process. Raises RunFailed if it ends, or isn't ready in time."""
        give_up_at = time.monotonic() + within_s
        while not ready():
            self.check(role)
            if time.monotonic() > give_up_at:
                raise RunFailed(f"{role} wasn't ready within {within_s} s: {self.log_tail(role)}")
            time.sleep(0.05)

    def check(self, role: str) -> None:
        """Raise RunFailed if a process of this role has ended by itself."""
        for process in self._started[role]:
            if process.poll() is not None:
                raise RunFailed(f"{role} ended ({process.returncode}): {self.log_tail(role)}")

    def stop(self, role: str) -> None:
        """Ask the processes of a role to end, and end those that don't, with their children."""
        processes = self._started.pop(role, [])
        for process in processes:
            process.terminate()
        for process in processes:
            try:
                process.wait(STOP_WITHIN_S)
            except subprocess.TimeoutExpired:
                pass
            _kill_session(process.pid)
            process.wait()

    def pids(self, role: str) -> list[int]:
        return [process.pid for process in self._started.get(role, [])]

    def cpu_s(self) -> dict[str, float]:
        """Return the CPU seconds, user and system, that each role has used so far."""
        return {
            role: sum(_cpu_s(process.pid) for process in processes)
            for role, processes in list(self._started.items())
        }

    def log_tail(self, role: str) -> str:
        return "\n".join(self._log(role).read_text(errors="replace").splitlines()[-LOG_TAIL_LINES:])

    def _log(self, role: str) -> Path:
        return self.logs / f"{role}.log"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _kill_session(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _cpu_s(pid: int) -> float:
    try:
        process = psutil.Process(pid)
        times = [p.cpu_times() for p in (process, *process.children(recursive=True))]
    except psutil.NoSuchProcess:
        return 0.0
    return float(sum(t.user + t.system for t in times))

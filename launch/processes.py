"""The processes of a run: started, watched, and ended without exception."""

import fcntl
import os
import random
import signal
import socket
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from signal import SIGTERM, Signals
from types import TracebackType
from typing import Self

import psutil

HERE = "127.0.0.1"
PORTS = range(10_000, 32_768)
"""Below those that Linux gives to outgoing connections."""
LOG_TAIL_LINES = 15
STOP_WITHIN_S = 15
GENERATOR = "locust"
"""Role of the load generator."""


class RunFailed(Exception):
    """A run that can't go on; the message says why, with the end of the log."""


class Processes:
    """The processes of a run, by role, each role with a log. All end when the block is left."""

    def __init__(self, logs: Path, *, is_pinned: bool = False) -> None:
        """``is_pinned``: the load generator has the last core, and all others have the rest."""
        self.logs = logs
        self.is_pinned = is_pinned
        self._started: defaultdict[str, list[subprocess.Popen[bytes]]] = defaultdict(list)
        self._stop_signals: dict[str, Signals] = {}
        self._accounted: defaultdict[str, list[int]] = defaultdict(list)
        self._at_exit = ExitStack()

    def __enter__(self) -> Self:
        self.logs.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._at_exit:
            for role in self._started:  # the latest ends first; a second Ctrl-C spares none
                self._at_exit.callback(self.stop, role)

    def at_exit(self, clean_up: Callable[[], object]) -> None:
        """Call this when all processes have ended, the latest first."""
        self._at_exit.callback(clean_up)

    def start(
        self,
        role: str,
        argv: Sequence[str],
        env: Mapping[str, str],
        *,
        host: str | None = None,
        stop_signal: Signals = SIGTERM,
    ) -> subprocess.Popen[bytes]:
        """Start a process in a session of its own, so that Ctrl-C reaches it through us only.

        ``host``: its host, where roles have hosts (``launch.hosts``), if it isn't the role's.
        ``stop_signal``: what asks the role's processes to end.
        """
        if self.is_pinned:
            argv = ("taskset", "--cpu-list", ",".join(map(str, self.cores_of(role))), *argv)
        with self._log(role).open("ab") as log:
            process = subprocess.Popen(
                argv, env={**os.environ, **env}, stdout=log, stderr=log, start_new_session=True
            )
        self._started[role].append(process)
        self._stop_signals[role] = stop_signal
        self.account(role, process.pid)
        return process

    def cores_of(self, role: str) -> list[int]:
        """Return the numbers of the cores on which the processes of a role run."""
        cores = sorted(os.sched_getaffinity(0))
        if not self.is_pinned or len(cores) == 1:
            return cores
        return cores[-1:] if role == GENERATOR else cores[:-1]

    def address(self, host: str) -> str:
        """Return the address on which the processes of a role, or on a host, listen."""
        return HERE

    def account(self, role: str, pid: int) -> None:
        """Count what this process and its children use as a role's."""
        self._accounted[role].append(pid)

    def call(
        self, role: str, argv: Sequence[str], env: Mapping[str, str], *, ok: Sequence[int] = (0,)
    ) -> str:
        """Run a command to its end and return its output. Raises RunFailed on other exit codes."""
        return "".join(self.lines(role, argv, env, ok=ok))

    def lines(
        self, role: str, argv: Sequence[str], env: Mapping[str, str], *, ok: Sequence[int] = (0,)
    ) -> Generator[str]:
        """Run a command and yield its output as it comes. Raises RunFailed like ``call``."""
        with self._log(role).open("ab") as log:
            process = subprocess.Popen(
                argv,
                env={**os.environ, **env},
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        self._started[role].append(process)
        assert process.stdout is not None
        with process.stdout as output:
            yield from (line.decode() for line in output)
        process.wait()
        self._started[role].remove(process)
        if process.returncode not in ok:
            raise RunFailed(f"{role} ended with status {process.returncode}: {self.log_tail(role)}")

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
        # The role keeps its place: started again, it still ends after those that need it.
        processes, self._started[role] = self._started[role], []
        self._accounted.pop(role, None)
        # PostgreSQL's children aren't in its session.
        family = _family(process.pid for process in processes)
        for process in processes:
            process.send_signal(self._stop_signals.get(role, SIGTERM))
        for process in processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(STOP_WITHIN_S)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        _kill(family)

    def kill(self, role: str) -> None:
        """End the processes of a role at once, with their children, as a crash does."""
        with frozen(self.pids(role)) as family:
            _kill(family)
        self.stop(role)

    def pids(self, role: str) -> list[int]:
        return [process.pid for process in self._started[role]]

    def have_ended(self, role: str) -> bool:
        """Return whether a process of this role has ended by itself."""
        return any(process.poll() is not None for process in self._started[role])

    def cpu_s(self) -> dict[str, float]:
        """Return the CPU seconds, user and system, that each role has used so far."""
        laboratory = psutil.Process().cpu_times()
        return self._by_role(_cpu_s) | {"lab": laboratory.user + laboratory.system}

    def ran_s(self) -> dict[str, float]:
        """Return what ``cpu_s`` does, but exactly, and only of threads that haven't ended."""
        return self._by_role(_ran_s)

    def wanted_s(self) -> dict[str, float]:
        """Return the seconds that each role ran, or would have if a core had been free.

        Of each process the first thread, which is all there is of an event loop.
        """
        return self._by_role(_wanted_s)

    def memory_mib(self) -> dict[str, float]:
        """Return the memory of each role, what its processes share counted once (PSS)."""
        return self._by_role(_memory_mib)

    def _by_role(self, figure: Callable[[psutil.Process], float]) -> dict[str, float]:
        """Add up a figure of all processes and their children, but of those that have ended."""
        accounted = list(self._accounted.items())
        totals = dict.fromkeys((role for role, _ in accounted), 0.0)
        for role, pids in accounted:
            for member in _family(pids):
                with suppress(psutil.NoSuchProcess, OSError):  # a file of /proc that has gone
                    totals[role] += figure(member)
        return totals

    def log_tail(self, role: str) -> str:
        return "\n".join(self._log(role).read_text(errors="replace").splitlines()[-LOG_TAIL_LINES:])

    def _log(self, role: str) -> Path:
        return self.logs / f"{role}.log"


def free_port() -> int:
    """Return a port that nobody listens on, and that no outgoing connection will take.

    It is this process's until that ends: neither it nor another of this user is given it again.
    """
    claims = _claims()  # outside of the loop: a folder that can't be written is no taken port
    for port in _untried:
        with socket.socket() as probe:
            try:
                fcntl.lockf(claims, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
                probe.bind((HERE, port))
            except OSError:
                continue
        return port
    raise RunFailed("no port is free")


_untried = iter(random.sample(PORTS, len(PORTS)))


@cache
def _claims() -> int:
    """Return a file, opened once, of which a process locks the byte of each port that it has."""
    path = Path(tempfile.gettempdir(), f"feed-fanout-ports-{os.getuid()}")
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


@contextmanager
def frozen(pids: Iterable[int]) -> Iterator[list[psutil.Process]]:
    """Stop processes and their children while the block runs, and yield them all."""
    parents = [psutil.Process(pid) for pid in pids]
    _stop(parents)  # so that they have no more children
    family = _family(parent.pid for parent in parents)
    _stop(family)
    try:
        yield family
    finally:
        for member in family:
            with suppress(psutil.NoSuchProcess):
                member.resume()


def _stop(processes: Iterable[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.suspend()
            while process.status() not in (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE):
                time.sleep(0.001)


def _kill(family: Iterable[psutil.Process]) -> None:
    """Kill processes, and wait until they have let go of all that they held."""
    for member in family:
        with suppress(psutil.NoSuchProcess):
            member.kill()
    while any(map(_is_alive, family)):
        time.sleep(0.01)


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _family(pids: Iterable[int]) -> list[psutil.Process]:
    """Return processes and their children, without those that have ended."""
    family = list[psutil.Process]()
    for pid in pids:
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid)
            family += [process, *process.children(recursive=True)]
    return family


def leaves(pids: Iterable[int]) -> list[int]:
    """Return those of some processes and their children that have no children themselves."""
    family, parents = [member for member in _family(pids) if _is_alive(member)], set[int]()
    for member in family:
        with suppress(psutil.NoSuchProcess):
            parents.add(member.ppid())
    return [member.pid for member in family if member.pid not in parents]


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()  # of children that have ended too
    return float(sum((times.user, times.system, times.children_user, times.children_system)))


def _ran_s(process: psutil.Process) -> float:
    threads = list(Path(f"/proc/{process.pid}/task").glob("*/schedstat"))
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


def _wanted_s(process: psutil.Process) -> float:
    ran_ns, waited_ns, _ = Path(f"/proc/{process.pid}/schedstat").read_text().split()
    return (int(ran_ns) + int(waited_ns)) / 1e9


def _memory_mib(process: psutil.Process) -> float:
    try:
        memory = process.memory_full_info().pss
    except psutil.AccessDenied:  # another user's, in a container: what they share isn't counted
        memory = process.memory_info().rss - process.memory_info().shared
    return float(memory / 2**20)

"""Redis, the database, the broker or the disk is slow or loses some answers, instead of dead."""

import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import cycle
from mmap import mmap
from operator import attrgetter
from pathlib import Path
from socket import create_connection
from typing import Self

from lab.faults.database import server_of
from lab.faults.fault import Need, fault, in_one_redis, on_server, with_broker, without_queue
from lab.faults.queue import broker_of, supervised
from lab.faults.readers import PENDING, Readers
from lab.faults.running import Running, wait_for
from lab.faults.slow_proxy import ANSWERS_LOST, HALF_OPEN, KINDS
from launch.processes import Processes, free_port
from launch.servers.base import Server
from launch.servers.proxies import Proxy

TEXT = (
    "In turn: answers of {} come 50 or 500 ms late; each connection to it carries 10 kB/s; 1% of "
    "requests to it, or 2% of its answers, are lost with their connections; for "
    f"{KINDS[HALF_OPEN].lasts_s:g} s, open connections lose all data."
)
TYPICAL_WITHIN_S = 5.0
"""Each of up to ten exchanges of a request may take 500 ms longer."""
PROBES_WITHIN_S = 14.0
"""Where requests deliver, a thread gives up after 10 s, and 2 s for a new connection."""
FLUSH_MS = 200
SLOW_DISK_S = 4.0
SHARED = struct.Struct("II")
"""What the library shares: milliseconds of delay, and how many flushes had it."""
SOURCE = Path(__file__).with_name("slow_disk.c")
pends: Need = attrgetter("delivers_later")
"""At a random moment, posts are in flight."""


class SlowProxy(Proxy):
    """A proxy through which the service reaches a server; the laboratory still asks that itself."""

    role = "slow-proxy"
    binaries = ("python3",)

    def __init__(
        self, processes: Processes, folder: Path, server: str, urls: Mapping[str, str]
    ) -> None:
        """``server``: host and port; ``urls``: environment variables with its URL."""
        super().__init__(processes, folder, port=free_port())
        self.server, self.urls, self.control_port = server, urls, free_port()
        self.turns = cycle(KINDS)

    @classmethod
    def before(cls, server: Server) -> Self:
        address = f"{server.address}:{server.port}"
        return cls(server.processes, server.folder, address, server.environment)

    @property
    def environment(self) -> dict[str, str]:
        own = f"{self.address}:{self.port}"
        return {name: url.replace(self.server, own) for name, url in self.urls.items()}

    def command(self, binary: str) -> list[str]:
        ports = map(str, (self.port, self.control_port))
        return [sys.executable, "-m", "lab.faults.slow_proxy", self.server, *ports]

    @contextmanager
    def slow(self, kind: str) -> Iterator[Callable[[], int]]:
        """Be slow in one of KINDS while the block runs; yield what returns how much data met it."""
        control = create_connection((self.address, self.control_port))
        with control, control.makefile("rw") as stream:

            def ask(line: str = "") -> int:
                print(line, file=stream, flush=True)
                return int(stream.readline())

            ask(kind)
            yield ask


@contextmanager
def through_proxy(find: Callable[[Running], Server], running: Running) -> Iterator[None]:
    """Let the service reach a server through a proxy while the block runs."""
    proxy = SlowProxy.before(find(running))
    proxy.start()
    running.service.servers.append(proxy)
    running.restart_service()
    yield
    running.service.servers.remove(proxy)
    running.restart_service()
    running.processes.stop(proxy.role)


@contextmanager
def broker_through_proxy(running: Running) -> Iterator[None]:
    with through_proxy(broker_of, running), supervised(running):
        yield


slow_server = partial(
    fault,
    at_stake="posts in flight, or accepted meanwhile",
    typical_within_s=TYPICAL_WITHIN_S,
    probes_within_s=PROBES_WITHIN_S,
)


@slow_server(
    TEXT.format("Redis"),
    needs=(in_one_redis, pends),
    safeguard="receipts",
    around=partial(through_proxy, lambda running: running.server("redis")),
)
def slow_redis(running: Running, readers: Readers) -> int:
    return be_slow(running)


@slow_server(
    TEXT.format("the database"),
    needs=(on_server, pends),
    safeguard="receipts",
    control_needs=(without_queue,),
    around=partial(through_proxy, server_of),
)
def slow_database(running: Running, readers: Readers) -> int:
    return be_slow(running)


@slow_server(
    f"For {KINDS[ANSWERS_LOST].lasts_s:g} s, 2% of the answers of the database are lost with their "
    "connections, after it acted.",
    needs=(on_server, pends),
    safeguard="idempotency keys",
    around=partial(through_proxy, server_of),
)
def database_answers_lost(running: Running, readers: Readers) -> int:
    return be_slow(running, ANSWERS_LOST)


@slow_server(
    TEXT.format("the broker"),
    needs=(on_server, with_broker),
    safeguard="sweeps",
    around=broker_through_proxy,
)
def slow_broker(running: Running, readers: Readers) -> int:
    return be_slow(running)


def be_slow(running: Running, kind: str | None = None) -> int:
    """Let the proxy be slow in one kind, or the next, until data has met it; return what is at
    stake."""
    (proxy,) = (it for it in running.service.servers if isinstance(it, SlowProxy))
    kind, in_flight = kind or next(proxy.turns), wait_for(lambda: running.query(PENDING))
    began = time.monotonic()
    with proxy.slow(kind) as met:
        time.sleep(KINDS[kind].lasts_s)
        wait_for(met)
    return in_flight + running.accepted_between(began, time.monotonic())


def without_compiler() -> str | None:
    return None if shutil.which("cc") else "there is no C compiler (cc)"


@contextmanager
def with_slow_disk(running: Running) -> Iterator[None]:
    """Restart the database's server with a library that can let its flushes take longer."""
    server, library = server_of(running), running.folder / "slow_disk.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"], check=True)
    running.processes.stop(server.role)
    shared(running).write_bytes(SHARED.pack(0, 0))
    server.added_environment = {"LD_PRELOAD": str(library), "SLOW_DISK": str(shared(running))}
    server.start()
    yield


def shared(running: Running) -> Path:
    return running.folder / "slow_disk"


@fault(
    f"The disk of the database takes {FLUSH_MS} ms for each flush (fsync, fdatasync), for "
    f"{SLOW_DISK_S:g} s.",
    at_stake="flushes that took longer",
    needs=(on_server, pends),
    no_control="a slow disk delays commits, and takes none back",
    unavailable=without_compiler,
    typical_within_s=TYPICAL_WITHIN_S,
    around=with_slow_disk,
)
def slow_disk(running: Running, readers: Readers) -> int:
    wait_for(lambda: running.query(PENDING))
    with shared(running).open("r+b") as file, mmap(file.fileno(), SHARED.size) as disk:
        disk[:] = SHARED.pack(FLUSH_MS, 0)
        time.sleep(SLOW_DISK_S)
        _, flushes = SHARED.unpack(disk[:])
        disk[:] = SHARED.pack(0, 0)
        return int(flushes)

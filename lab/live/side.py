"""A side of the page: one variant that runs, under a load of its own."""

import json
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from lab.experiments import EXPERIMENTS
from lab.live.figures import History
from lab.running.resources import check_resources
from lab.running.services import service_for
from launch.hosts import processes_for
from launch.processes import Processes, RunFailed
from launch.service import Seed, Service
from launch.variants import Variant

STOPPED, STARTING, RUNNING, STOPPING = "stopped", "starting", "running", "stopping"
LOOK_EVERY_S = 0.5
CPU_EVERY_S = 2.0
LOAD = "load"
NAMES = {"lab": "this page"}


@dataclass(frozen=True)
class Rates:
    """The load of a side, as ``lab.live.load`` reads it."""

    posts_per_s: float = 20.0
    reads_per_post: float = 2.0

    def write(self, file: Path) -> None:
        new = file.with_suffix(".new")
        new.write_text(json.dumps(vars(self)))
        new.replace(file)


def variant_named(name: str) -> Variant:
    """Return a variant that the page can run. Raises ValueError."""
    variant = EXPERIMENTS["fanout"].variant(name)
    if type(variant) is not Variant:
        raise ValueError(f"{name} has an API of its own: lab run plays it, the live page doesn't")
    return variant


class Side:
    """Runs one variant at a time; its servers start and end in a thread."""

    def __init__(self, name: str, seed: Seed, servers: str) -> None:
        self.name, self.seed, self.servers = name, seed, servers
        self.state, self.said = STOPPED, "Nothing runs."
        self.variant: Variant | None = None
        self.service: Service | None = None
        """While it runs."""
        self.history = History()
        self.fault: str | None = None
        """Name of the fault that is happening."""
        self.fault_failed = False
        """Whether a fault of this run did not come to its end."""
        self._rates = Rates()
        self._processes: Processes | None = None
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        """Held while it is told to stop, or has stopped."""
        self._threads: list[threading.Thread] = []

    def start(self, name: str) -> None:
        """Start a variant. Raises ValueError if that is none, or one runs."""
        if self.state != STOPPED:
            raise ValueError(f"{self.name} is {self.state}: stop it first")
        self.variant = variant_named(name)
        self.history, self.fault, self.fault_failed = History(), None, False
        self._stopping.clear()
        self._say(STARTING, f"Starting {name}: its servers and {self.seed.people:,} people.")
        self._threads = [threading.Thread(target=self._run, args=(self.variant,))]
        self._threads[0].start()

    def stop(self) -> None:
        """Ask it to end; returns at once."""
        with self._lock:
            if self.state not in (STARTING, RUNNING):
                return
            self._say(STOPPING, "Stopping its servers.")
            self._stopping.set()
            if self._processes and not self.service:
                threading.Thread(target=self._processes.stop, args=("seed",)).start()

    def wait(self) -> None:
        """Wait until all has ended."""
        for thread in self._threads:
            thread.join()

    @property
    def is_stopping(self) -> bool:
        return self._stopping.is_set()

    @property
    def rates(self) -> Rates:
        return self._rates

    @rates.setter
    def rates(self, rates: Rates) -> None:
        self._rates = rates
        if service := self.service:
            rates.write(self._wanted(service))

    def do(self, name: str, fault: Callable[[Service], str]) -> None:
        """Let a fault happen in a thread; it returns what came of it. One at a time."""
        if self.service is None or self.fault:
            raise ValueError(f"{self.name} can't take a fault now")
        self.fault, service = name, self.service
        thread = threading.Thread(target=self._let_happen, args=(service, fault))
        self._threads.append(thread)
        thread.start()

    def _let_happen(self, service: Service, fault: Callable[[Service], str]) -> None:
        name = self.fault
        self.said = f"Fault {name} is happening."
        self.history.faults_at.append(time.time())
        try:
            said = fault(service)
        except Exception as error:  # whatever it is, the page tells it and goes on
            self.fault_failed = True
            said = f"it did not come to its end: {error}"
        finally:
            self.fault = None
        if not self.is_stopping:
            self.said = f"Fault {name}: {said}"

    def _run(self, variant: Variant) -> None:
        said = f"{variant.name} has ended, and its servers."
        try:
            with (
                TemporaryDirectory(prefix="lab-") as scratch,
                processes_for(variant, Path(scratch) / "logs") as processes,
            ):
                self._processes = processes
                try:
                    self._serve(variant, processes, Path(scratch))
                finally:
                    self.service = None
                    for thread in self._threads[1:]:  # a fault starts processes too
                        thread.join()
        except Exception as error:  # the other side goes on
            if not self.is_stopping:
                said = f"{variant.name} failed: {error}"
        with self._lock:
            self._processes = None
            self._say(STOPPED, said)

    def _serve(self, variant: Variant, processes: Processes, scratch: Path) -> None:
        service = service_for(variant)(variant, processes, scratch, servers=self.servers)
        service.prepare(self.seed)
        self._check_stop()
        service.start()
        self._check_stop()
        self._rates.write(self._wanted(service))
        processes.start(LOAD, self._load(service), {})
        self.service = service
        self._rates.write(self._wanted(service))  # they may have been turned meanwhile
        self._say(RUNNING, f"{variant.name} runs.")
        self._watch(processes, scratch)

    def _watch(self, processes: Processes, scratch: Path) -> None:
        used, used_at = processes.cpu_s(), time.monotonic()
        while not self._stopping.wait(LOOK_EVERY_S):
            self.history.read(scratch / "figures.json")
            if time.monotonic() >= used_at + CPU_EVERY_S:
                before, before_at = used, used_at
                used, used_at = processes.cpu_s(), time.monotonic()
                self.history.cores = {
                    NAMES.get(role, role): max(0.0, it - before.get(role, 0.0))
                    / (used_at - before_at)
                    for role, it in used.items()
                }
                check_resources(scratch)
            if not self.fault:
                for role in ("web", "workers", LOAD):
                    processes.check(role)

    def _load(self, service: Service) -> list[str]:
        options = {
            "host": service.url,
            "tokens": service.tokens,
            "friends": self.seed.friends,
            "wanted": self._wanted(service),
            "figures": service.folder / "figures.json",
        }
        arguments = [f"--{name}={value}" for name, value in options.items()]
        return [sys.executable, "-m", "lab.live.load", *arguments]

    def _wanted(self, service: Service) -> Path:
        return service.folder / "wanted.json"

    def _check_stop(self) -> None:
        if self.is_stopping:
            raise RunFailed("stopped")

    def _say(self, state: str, said: str) -> None:
        self.state, self.said = state, said

"""The two sides of the page, which every tab shows: a variant each, under a load of its own.

Its faults are those of ``lab run faults``.
"""

import sys
import threading
import time
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from lab.experiments import EXPERIMENTS
from lab.faults.catalogue import FAULTS
from lab.faults.fault import Fault
from lab.faults.readers import Readers
from lab.faults.running import Running
from lab.live.figures import History, Rates
from lab.running.machine import check_resources
from lab.running.single_run import service_for
from launch.backends import backends
from launch.hosts import processes_for
from launch.processes import Processes, RunFailed
from launch.service import Seed, Service
from launch.variants import DATABASES, SHORT, Variant

STOPPED, STARTING, RUNNING, STOPPING = "stopped", "starting", "running", "stopping"
LOOK_EVERY_S = 0.5
CPU_EVERY_S = 2.0
LOAD = "load"
FAULT_BUTTONS = {
    "drainer-killed": "Kill the drainer",
    "queue-worker-killed": "Kill the queue's workers",
    "redis-emptied": "Empty Redis",
    "redis-killed": "Kill Redis",
    "database-frozen": "Freeze the database",
    "drainer-cut-off": "Cut the drainer's link",
    "primary-cut-off": "Cut a primary's link",
    "friendships": "Unfriend and befriend",
}
"""What the buttons of faults say, by name of the fault."""
NAMES = {"lab": "this page"}
FIRST = ("sqlite-inline-rowwise", "sqlite-outbox-setbased")
"""Chosen when the page opens: they need no server."""


def variant_named(name: str) -> Variant:
    """Return a variant that the page can run. Raises ValueError."""
    variant = EXPERIMENTS["fanout"].variant(name)
    if type(variant) is not Variant:
        raise ValueError(f"{name} has an API of its own: lab run plays it, the live page doesn't")
    return variant


class Stoppable(Running):
    """A service without clients of the laboratory's own; ends a fault when its side is stopped."""

    def __init__(self, service: Service, stopping: threading.Event) -> None:
        super().__init__(service)
        self._stopping = stopping

    def workers_of(self, role: str) -> list[int]:
        check_stop(self._stopping)
        return super().workers_of(role)

    def query(self, sql: str) -> int:
        check_stop(self._stopping)
        return super().query(sql)


def check_stop(stopping: threading.Event) -> None:
    """Raise RunFailed if a side has been stopped."""
    if stopping.is_set():
        raise RunFailed("the side was stopped")


class Side:
    """Runs one variant at a time; its servers start and end in a thread."""

    def __init__(self, name: str, seed: Seed, servers: str) -> None:
        self.name, self.seed, self.servers = name, seed, servers
        self.state, self.message = STOPPED, "Nothing runs."
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
        """Held while ``stop`` or the end of ``_run`` changes the state."""
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
        """Begin to end the variant; return at once."""
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

    def turn(self, rates: Rates) -> None:
        """Change the load."""
        self._rates = rates
        if service := self.service:
            rates.write(service.folder)

    def has_part_for(self, fault: str) -> bool:
        """Return whether the variant has what a fault breaks; True if there is no variant yet."""
        variant = self.variant
        return variant is None or (variant.database.files == 1 and FAULTS[fault].suits(variant))

    def why_not(self, fault: str) -> str | None:
        """Return why a fault can't happen now; None if it can."""
        if self.state != RUNNING or self.variant is None:
            return "nothing runs"
        if self.fault:
            return f"{self.fault} is happening"
        if not self.has_part_for(fault):
            return f"{self.variant.name} has no such part"
        if self.servers == "external":
            return "the servers are not the laboratory's own"
        return FAULTS[fault].unavailable()

    def inject(self, fault: str) -> None:
        """Let a fault happen in a thread, one at a time. Raises ValueError if it can't."""
        service, reason = self.service, self.why_not(fault)
        if service is None or reason:
            raise ValueError(f"{FAULT_BUTTONS[fault]}: {reason}.")
        self.fault = fault
        thread = threading.Thread(target=self._let_happen, args=(FAULTS[fault], service))
        self._threads.append(thread)
        thread.start()

    def _let_happen(self, fault: Fault, service: Service) -> None:
        self.message = f"Fault {fault.name} is happening."
        self.history.faults_at.append(time.time())
        try:
            running = Stoppable(service, self._stopping)
            readers = Readers(running)  # without their threads: the load's own look-ups read
            with fault.around(running):
                at_stake = fault.inject(running, readers)
            wrong = f", {len(readers.wrong)} wrong pages" if readers.wrong else ""
            what = f"{at_stake:,} {fault.at_stake}{wrong}"
            message = f"{fault.text} At stake: {what}. The fault is over."
        except Exception as error:  # whatever it is, the page shows it and goes on
            self.fault_failed = True
            message = f"it did not come to its end: {error}"
        finally:
            self.fault = None
        if not self._stopping.is_set():
            self.message = f"Fault {fault.name}: {message}"

    def _run(self, variant: Variant) -> None:
        message = f"{variant.name} has ended, and its servers."
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
            if not self._stopping.is_set():
                message = f"{variant.name} failed: {error}"
        with self._lock:
            self._processes = None
            self._say(STOPPED, message)

    def _serve(self, variant: Variant, processes: Processes, scratch: Path) -> None:
        service = service_for(variant)(variant, processes, scratch, servers=self.servers)
        service.prepare(self.seed)
        check_stop(self._stopping)
        service.start()
        check_stop(self._stopping)
        self.service = service  # from now on ``turn`` writes the rates
        self._rates.write(scratch)
        command = (sys.executable, "-m", "lab.live.load", service.url, str(scratch))
        processes.start(LOAD, (*command, str(self.seed.friends)), {})
        self._say(RUNNING, f"{variant.name} runs.")
        self._watch(processes, scratch)

    def _watch(self, processes: Processes, scratch: Path) -> None:
        used, used_at = processes.cpu_s(), time.monotonic()
        while not self._stopping.wait(LOOK_EVERY_S):
            self.history.read(scratch)
            if time.monotonic() >= used_at + CPU_EVERY_S:
                before, before_at = used, used_at
                used, used_at = processes.cpu_s(), time.monotonic()
                self.history.cores = {
                    NAMES.get(role, role): max(0.0, cpu_s - before.get(role, 0.0))
                    / (used_at - before_at)
                    for role, cpu_s in used.items()
                }
                check_resources(scratch)
            if not self.fault:
                for role in ("web", "workers", LOAD):
                    processes.check(role)

    def _say(self, state: str, message: str) -> None:
        self.state, self.message = state, message


class Stage:
    """Both sides and the load that they share."""

    def __init__(self, seed: Seed, servers: str) -> None:
        self.sides = [Side(name, seed, servers) for name in ("Left", "Right")]
        self.rates = Rates()

    def turn(self, **rates: float) -> None:
        """Change the load of both sides."""
        self.rates = self.rates._replace(**rates)
        for side in self.sides:
            side.turn(self.rates)

    def end(self) -> None:
        """End everything that runs, and wait for it."""
        for side in self.sides:
            side.stop()
        for side in self.sides:
            side.wait()


@cache
def variant_names() -> list[str]:
    """Return the names of all variants that can work, those of the experiment fanout first."""
    usual = list(EXPERIMENTS["fanout"].variants)
    pairs = [
        f"{strategy}-{store}"
        for strategy, strategy_flags in backends().strategies.items()
        for store, store_flags in backends().timeline_stores.items()
        if strategy_flags.delivers and not store_flags.is_computed_on_read
        if store_flags.accepts_partial_delivery or not strategy_flags.needs_partial_delivery
    ]
    every = [f"{database}-{rest}" for database in DATABASES for rest in (*SHORT, *pairs)]
    return list(dict.fromkeys(usual + every))

"""The load: a command of Locust or of the lean generator, and the process that runs it."""

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from lab.progress import stage
from lab.results.result import Result
from lab.running.machine import check_resources
from launch.processes import Processes, RunFailed, free_port
from launch.service import Service
from launch.unknown import none_of
from launch.variants import Variant

RAMP_S = 2
WARM_UP_S = 5
"""Ramp and warm-up together; requests that end before are not counted. What is measured for less
than that, is warmed up for as long as it is measured."""
COOL_DOWN_S = 4
"""The load goes on beyond the window, which begins with the first request: Locust counts its run
time from before its users have started, on a busy machine from seconds before."""

LOOK_EVERY_S = 0.2

INTERRUPTED = "interrupted"
"""Arrivals of users whom the experiment itself stops at times."""


def warm_up_s(run_time_s: int) -> int:
    return max(RAMP_S, min(WARM_UP_S, run_time_s))


@dataclass(frozen=True)
class Load:
    """``users`` who do one thing each ``pace_s``, measured for ``run_time_s`` after the warm-up."""

    users: int
    run_time_s: int
    locustfile: str
    name: str = ""
    """Tells the loads of an experiment apart, where it has several."""
    arrivals: str = "closed"
    """closed: users keep a schedule, but wait for each answer; paused: they pause after each
    answer; checked: after each but a failure; open: they keep the schedule, answered or not
    (``locustfiles.arrivals``)."""
    pace_s: float = 1.0
    """Seconds from one action of a user to the next, or the pause after an answer."""
    share: float = 1.0
    """Share of the users whose requests are counted."""
    classes: tuple[str, ...] = ()
    """User classes of the locustfile, by name; empty: all."""
    counted: tuple[str, ...] = ()
    """The requests that the figures are of, like "POST /v1/posts/"; empty: all. Each is an action
    of its own, so that users, rate and latency fit together (``lab.results.laws``)."""
    warm_up_s: int = WARM_UP_S
    cool_down_s: int = COOL_DOWN_S
    patience_s: int = 0
    """For how long the last answers are waited for when the load has ended. If they are, the
    figures are of what was begun in the window, else of what ended in it."""
    workers: int = 0
    """Locust processes beside a master, which share the users; 0: one process without a master."""
    options: Mapping[str, object] = field(default_factory=dict)
    """Options of the locustfile; an empty text sets a flag."""
    files: tuple[str, ...] = ()
    """What the locustfile writes beside requests.csv: its option "accepted" names accepted.csv."""
    optional: bool = False
    """Run only if ``--loads`` names it."""

    @property
    def offered_rps(self) -> float:
        """Requests per second, if no user has to wait for an answer; 0 if users never pause."""
        return self.counted_users / self.pace_s if self.pace_s else 0.0

    @property
    def counted_users(self) -> float:
        return self.users * self.share

    @property
    def seconds(self) -> int:
        return self.warm_up_s + self.run_time_s + self.cool_down_s

    @property
    def program(self) -> tuple[str, ...]:
        """What Python runs, without options."""
        return "-m", "locust", "-f", self.locustfile

    def locust(self, url: str, tokens: Path, folder: Path) -> list[str]:
        """Return the command; it writes requests.csv and unanswered.csv into ``folder``."""
        options = {
            "users": self.users,
            "spawn-rate": max(1, self.users // RAMP_S),
            "run-time": f"{self.seconds}s",
            "arrivals": self.arrivals,
            "pace-s": self.pace_s,
            "exit-code-on-error": 0,
            **({"stop-timeout": self.patience_s} if self.patience_s else {}),
            **self._options(url, tokens, folder),
        }
        headless = ("--headless", "--only-summary", *as_arguments(options), *self.classes)
        return [sys.executable, *self.program, *headless]

    def _options(self, url: str, tokens: Path, folder: Path) -> dict[str, object]:
        """Return the options that both generators have, and those of the locustfile."""
        files = {name: folder / f"{name}.csv" for name in ("requests", "unanswered", *self.files)}
        return {"host": url, "tokens": tokens, **files, **self.options}


@dataclass(frozen=True)
class OpenLoad(Load):
    """Open arrivals by a generator that needs less of the machine.

    Its option posts-per-s may name several rates, "10,20"; each is measured for ``run_time_s``.
    """

    locustfile: str = "locustfiles/open_load.py"
    arrivals: str = "open"
    files: tuple[str, ...] = ("accepted", "steps")

    @property
    def seconds(self) -> int:
        rates = str(self.options["posts-per-s"]).count(",") + 1
        return rates * (self.warm_up_s + self.run_time_s) + self.patience_s

    @property
    def program(self) -> tuple[str, ...]:
        return "-m", self.locustfile.removesuffix(".py").replace("/", ".")

    def locust(self, url: str, tokens: Path, folder: Path) -> list[str]:
        options = {
            "warm-up-s": self.warm_up_s,
            "run-time-s": self.run_time_s,
            "timeout-s": self.patience_s,
            **self._options(url, tokens, folder),
        }
        return [sys.executable, *self.program, *as_arguments(options)]


def as_arguments(options: Mapping[str, object]) -> Iterator[str]:
    """Yield options of a command; an empty text is a flag."""
    for name, value in options.items():
        yield f"--{name}={value}" if value != "" else f"--{name}"


def chosen(loads: Sequence[Load], names: str | None) -> list[Load]:
    """Return the loads of these names, "a,b"; without names all that aren't optional.

    Raises ValueError for a name that none has.
    """
    if names is None:
        return [load for load in loads if not load.optional]
    known = {load.name: load for load in loads if load.name}
    try:
        return [known[name.strip()] for name in names.split(",")]
    except KeyError as unknown:
        raise ValueError(f"--loads: {none_of(unknown.args[0], known)}") from None


def adapted(load: Load, variant: Variant) -> Load:
    """Return the load with the variant's locustfile, if it has one, and its options."""
    options = variant.options if variant.locustfile else {**load.options, **variant.options}
    return replace(load, locustfile=variant.locustfile or load.locustfile, options=options)


def generate(load: Load, service: Service, out: Path, _: Result) -> Load:
    """Run Locust to its end, and return the load. Raises RunFailed if it or an app server fails."""
    command = adapted(load, service.variant).locust(service.url, service.tokens, out)
    with stage(f"load: {load.users} users", load.seconds) as advance:
        locust = _start(command, service.processes, load.workers)
        while locust.poll() is None:
            service.processes.check("web")
            check_resources(service.folder)
            check_resources(out)
            advance()
            time.sleep(LOOK_EVERY_S)
    if locust.returncode != 0:
        raise RunFailed(
            f"locust ended with {locust.returncode}: {service.processes.log_tail('locust')}"
        )
    if load.workers:
        for name in ("requests", "unanswered", *load.files):
            _join(out / f"{name}.csv", load.workers)
    return load


def _start(command: Sequence[str], processes: Processes, workers: int) -> subprocess.Popen[bytes]:
    """Start Locust; with workers, the master and they, each on a host if roles have hosts."""
    if not workers:
        return processes.start("locust", command, {})
    port = free_port()
    master = (*command, "--master", f"--expect-workers={workers}", f"--master-bind-port={port}")
    worker = (*command, "--worker", f"--master-port={port}")
    started = processes.start("locust", master, {})
    for number in range(1, workers + 1):
        where = f"--master-host={processes.address('locust')}"
        processes.start("locust", (*worker, where), {}, host=f"locust{number}")
    return started


def _join(file: Path, parts: int) -> None:
    """Write the rows of all workers' files, like requests-0.csv, into one. Raises RunFailed."""
    with file.open("w") as joined:
        for number in range(parts):
            part = file.with_stem(f"{file.stem}-{number}")
            if not part.exists():
                raise RunFailed(f"worker {number} of Locust left no {part.name}")
            with part.open() as rows:
                joined.writelines(islice(rows, 1 if number else 0, None))

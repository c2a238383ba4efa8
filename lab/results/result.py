"""A result: what one run of one variant measured, as it is written to result.json."""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

FILE = "result.json"
MEASURING = ("locust", "readers", "lab")
"""Roles that are no part of the service: load generator, readers of streams, and laboratory with
its sampler."""


@dataclass
class Balance:
    """Both sides of the laws that figures obey (``lab.results.laws``), of the counted requests."""

    users: float
    arrivals: str
    pace_s: float
    patient: bool
    """Whether all requests that began in the window were waited for."""
    rate_rps: float
    """Requests that were answered in the window, failures too; of a patient load, that began."""
    cycle_s: float
    """Mean time from the start of a request until its user may start the next one."""
    begun_rps: float
    in_flight: float
    """Requests that waited for an answer, on average."""
    waiting_at_end: int
    """Requests that waited for an answer when the window ended."""
    busy_cores: float | None = None
    """Cores of the machine that were busy, with this run or anything else."""
    accepted: int | None = None
    """Posts answered with 201."""
    delivered: int | None = None
    """Posts that got their receipt."""
    backlog_growth: int | None = None


@dataclass
class Result:
    """Rates are per second of the measured window, percentiles those of single requests and posts.

    A figure is None where there is nothing to measure. ``errors`` says what failed, requests
    first; a run that couldn't be finished has an entry there and no audit.
    """

    experiment: str
    variant: str
    repeat: int
    started_at: str
    environment: dict[str, Any]
    offered_rps: float
    """0 if users never pause."""
    load: str = ""
    """Tells the loads of an experiment apart, where it has several."""
    window_s: int = 0
    achieved_rps: float | None = None
    requests: int = 0
    failures: int = 0
    latency_ms: dict[str, float | None] = field(default_factory=dict)
    latency_quantiles_ms: list[float] = field(default_factory=list)
    """Of 0 %, 1 % … 100 % of the requests that succeeded."""
    by_second: list[tuple[int, int, float | None]] = field(default_factory=list)
    """Second of the window, requests that succeeded in it, and the p99 of their latency in ms."""
    deliveries: int | None = 0
    deliveries_per_s: float | None = None
    lag_ms: dict[str, float | None] = field(default_factory=dict)
    """Of the window's posts. One without a receipt counts as waiting until the audit."""
    waiting: float | None = None
    """Share of the window's posts without a receipt: lags above it are bounds."""
    undelivered: int | None = None
    """Posts of the run without a receipt at the audit."""
    due: int | None = None
    """Deliveries of all posts, those of the seeding too."""
    backlog: list[tuple[float, int]] = field(default_factory=list)
    drain_s: float | None = None
    routes: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Of every request that has a name of its own: requests, failures, latency_ms."""
    extra: dict[str, float | None] = field(default_factory=dict)
    """Figures of the experiment's own."""
    audit: dict[str, Any] | None = None
    cpu_s: dict[str, float | None] = field(default_factory=dict)
    """By role; None for a server that runs elsewhere, whose CPU is not measured."""
    cpu_s_per_million_deliveries: float | None = None
    memory_mib: dict[str, float | None] = field(default_factory=dict)
    steal: float | None = None
    """Share of the machine's CPU time that its host gave to others in the window."""
    screen_ms: dict[str, float | None] = field(default_factory=dict)
    """From sending a post to the first page of a watched friend's feed that shows it."""
    watched: int | None = None
    """Posts that watched readers had to be shown, each counted per reader."""
    shown: float | None = None
    """Their share that was shown (0 … 1)."""
    generator_saturated: bool = False
    errors: list[str] = field(default_factory=list)
    balance: Balance | None = None

    def __post_init__(self) -> None:
        if isinstance(self.balance, dict):  # as it is read from a file
            self.balance = Balance(**self.balance)

    @property
    def success(self) -> float | None:
        """The share of requests that succeeded (0 … 1)."""
        return 1 - self.failures / self.requests if self.requests else None

    @property
    def coverage(self) -> float | None:
        """Deliveries that the audit compared with the store's, of those due (0 … 1).

        None if it isn't known: somebody became a celebrity, whose first posts were delivered.
        """
        if not self.due or self.audit is None:
            return None
        share = float(self.audit["expected"] - self.audit.get("merged", 0)) / self.due
        return share if share <= 1 else None

    @property
    def held(self) -> bool | None:
        """Whether it kept its limits; None if it has none, or did not finish."""
        found = self.extra.get("held")
        return None if found is None else found > 0

    @property
    def is_dirty(self) -> bool:
        """Whether the code had changes that no commit has."""
        return str(self.environment["commit"]).endswith("-dirty")

    @property
    def shared(self) -> bool:
        """Whether other programs were known to use the machine."""
        return "--shared" in self.environment["command"].split()

    @property
    def cores_busy(self) -> float | None:
        """CPU seconds per second of the window, of everything; None if a part is not measured."""
        return _sum(map(self.cores, self.cpu_s)) if self.cpu_s else None

    @property
    def service_s(self) -> float | None:
        """CPU seconds of all roles of the service; None if a part is not measured."""
        return _sum(used for role, used in self.cpu_s.items() if role not in MEASURING)

    def cores(self, role: str) -> float | None:
        used = self.cpu_s.get(role, 0.0)
        return used / self.window_s if used is not None and self.window_s else None

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILE).write_text(json.dumps(asdict(self), indent=1) + "\n")


Figure = Callable[[Result], float | None]


def _sum(parts: Iterable[float | None]) -> float | None:
    known = list(parts)
    return None if None in known else sum(part for part in known if part is not None)


def read_results(folder: Path) -> list[Result]:
    """Read every result below a folder, oldest first. Raises ValueError for a malformed one."""
    results = []
    for path in folder.rglob(FILE):
        try:
            results.append(Result(**json.loads(path.read_text())))
        except TypeError as error:
            raise ValueError(f"{path} is no result of this laboratory: {error}") from error
    return sorted(results, key=lambda result: result.started_at)


def results_of(folder: Path) -> list[Result]:
    """Read the results below a folder. Raises ValueError if there is none."""
    if results := read_results(folder):
        return results
    raise ValueError(f"there are no results in {folder}")

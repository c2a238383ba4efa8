"""A result: what one run of one variant measured, as it is written to result.json."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

FILE = "result.json"


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
    load: str = ""
    """Tells the loads of an experiment apart, where it has several."""
    window_s: int = 0
    achieved_rps: float | None = None
    requests: int = 0
    failures: int = 0
    latency_ms: dict[str, float | None] = field(default_factory=dict)
    latency_quantiles_ms: list[float] = field(default_factory=list)
    """Of 0 %, 1 % … 100 % of the requests that succeeded."""
    deliveries: int = 0
    deliveries_per_s: float | None = None
    lag_ms: dict[str, float | None] = field(default_factory=dict)
    backlog: list[tuple[float, int]] = field(default_factory=list)
    drain_s: float | None = None
    routes: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Of every request that has a name of its own: requests, failures, latency_ms."""
    extra: dict[str, float | None] = field(default_factory=dict)
    """Figures of the experiment's own."""
    audit: dict[str, Any] | None = None
    cpu_s: dict[str, float] = field(default_factory=dict)
    cpu_s_per_million_deliveries: float | None = None
    memory_mib: dict[str, float] = field(default_factory=dict)
    generator_saturated: bool = False
    errors: list[str] = field(default_factory=list)

    @property
    def success(self) -> float | None:
        """The share of requests that succeeded (0 … 1)."""
        return 1 - self.failures / self.requests if self.requests else None

    @property
    def held(self) -> bool | None:
        """Whether it kept the limits of its load; None if it had none, or didn't finish."""
        held = self.extra.get("held")
        return None if held is None else held > 0

    @property
    def cores_busy(self) -> float | None:
        """CPU seconds a second of the window, of everything."""
        return sum(map(self.cores, self.cpu_s)) if self.cpu_s else None

    @property
    def service_s(self) -> float:
        """CPU seconds of everything but the load generator."""
        return sum(used for role, used in self.cpu_s.items() if role != "locust")

    def cores(self, role: str) -> float:
        return self.cpu_s.get(role, 0.0) / self.window_s if self.window_s else 0.0

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILE).write_text(json.dumps(asdict(self), indent=1) + "\n")


Figure = Callable[[Result], float | None]


def read_results(folder: Path) -> Iterator[Result]:
    """Read every result below a folder, oldest first. Raises ValueError for a malformed one."""
    results = []
    for path in folder.rglob(FILE):
        try:
            results.append(Result(**json.loads(path.read_text())))
        except TypeError as error:
            raise ValueError(f"{path} is no result of this laboratory: {error}") from error
    yield from sorted(results, key=lambda result: result.started_at)

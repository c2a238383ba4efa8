"""The load: Locust as anyone would run it, and every request that it made."""

import csv
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab.limits import Limits
from lab.processes import RunFailed

RAMP_S = 2
WARM_UP_S = 5
"""Ramp and warm-up together; requests that end before are not counted. What is measured for less
than that, which makes no figure worth telling, is warmed up for as long as it is measured."""
COOL_DOWN_S = 1
"""The load goes on a little beyond the window, which begins with the first request."""


def warm_up_s(run_time_s: int) -> int:
    return max(RAMP_S, min(WARM_UP_S, run_time_s))


@dataclass(frozen=True)
class Load:
    """``users`` who do one thing a second, measured for ``run_time_s`` after the warm-up."""

    users: int
    run_time_s: int
    locustfile: str
    name: str = ""
    """Tells the loads of an experiment apart, where it has several."""
    arrivals: str = "closed"
    """closed: a user waits for her answer; open: she acts on schedule, answered or not."""
    rate_rps: float = 1.0
    """What a user offers if nothing holds her up."""
    counted: tuple[str, ...] = ()
    """The requests that the figures are of, like "POST /v1/posts/"; empty: all."""
    warm_up_s: int = WARM_UP_S
    cool_down_s: int = COOL_DOWN_S
    patience_s: int = 0
    """For how long the last answers are waited for when the load has ended. If they are, the
    figures are of what was begun in the window, else of what ended in it."""
    options: Mapping[str, object] = field(default_factory=dict)
    """Of the locustfile; an empty text sets a flag."""
    files: tuple[str, ...] = ()
    """What the locustfile writes beside requests.csv: its option "accepted" names accepted.csv."""
    optional: bool = False
    """Only if ``--loads`` names it."""
    limits: Limits | None = None
    """What a variant keeps if it holds this load; None: nothing is asked of it."""

    @property
    def offered_rps(self) -> float:
        return self.users * self.rate_rps

    @property
    def seconds(self) -> int:
        return self.warm_up_s + self.run_time_s + self.cool_down_s

    def locust(self, url: str, tokens: Path, folder: Path) -> list[str]:
        """Return the command; it writes requests.csv into ``folder``."""
        options = {
            "host": url,
            "users": self.users,
            "spawn-rate": max(1, self.users // RAMP_S),
            "run-time": f"{self.seconds}s",
            "arrivals": self.arrivals,
            "tokens": tokens,
            "exit-code-on-error": 0,
            **({"stop-timeout": self.patience_s} if self.patience_s else {}),
            **{name: folder / f"{name}.csv" for name in ("requests", *self.files)},
            **self.options,
        }
        return [
            *(sys.executable, "-m", "locust", "-f", self.locustfile),
            *("--headless", "--only-summary"),
            *(
                f"--{name}={value}" if value != "" else f"--{name}"
                for name, value in options.items()
            ),
        ]


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
        raise ValueError(f"no load {unknown}; there are {', '.join(known) or 'none'}") from None


class Requests(NamedTuple):
    """What was answered within the measured window."""

    window: tuple[float, float]
    """Start and end, in Unix time."""
    latency_ms: NDArray[np.float64]
    """Of the counted requests that succeeded."""
    failures: Counter[str]
    """Of the counted ones, by what went wrong."""
    routes: Mapping[str, "Route"]
    """Every request that has a name of its own, counted or not."""


class Route(NamedTuple):
    latency_ms: list[float]
    """Of those that succeeded."""
    failures: Counter[str]


def read_requests(path: Path, load: Load) -> Requests:
    """Read what Locust's CsvRequestLogger wrote. Raises RunFailed if nothing was answered."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    begun = [_begun(r) for r in rows if not load.counted or _name(r) in load.counted]
    if not begun:
        raise RunFailed("the load generator got no answer")
    start = min(begun) + load.warm_up_s
    end = start + load.run_time_s
    when = _begun if load.patience_s else _ended
    routes: defaultdict[str, Route] = defaultdict(lambda: Route([], Counter()))
    for row in rows:
        if start <= when(row) < end:
            route = routes[_name(row)]
            if row["exception"]:
                route.failures[row["exception"]] += 1
            else:
                route.latency_ms.append(float(row["response_time_ms"]))
    counted = [routes[name] for name in (load.counted or tuple(routes))]
    latency_ms = [ms for route in counted for ms in route.latency_ms]
    failures = sum((route.failures for route in counted), Counter())
    return Requests((start, end), np.array(latency_ms, np.float64), failures, dict(routes))


def _name(row: dict[str, str]) -> str:
    return f"{row['request_type']} {row['name']}"


def _begun(row: dict[str, str]) -> float:
    return float(row["timestamp"])


def _ended(row: dict[str, str]) -> float:
    # What was dropped took no time.
    return _begun(row) + float(row["response_time_ms"] or 0) / 1000

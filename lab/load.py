"""The load: Locust as anyone would run it, and every request that it made."""

import csv
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab.processes import RunFailed

POST = ("POST", "/v1/posts/")
RAMP_S = 2
WARM_UP_S = 5
"""Ramp and warm-up together; requests that end before are not counted."""
COOL_DOWN_S = 1
"""The load goes on a little beyond the window, which begins with the first request."""


class Load(NamedTuple):
    """``users`` who each post once a second, measured for ``run_time_s`` after the warm-up."""

    users: int
    run_time_s: int
    graph: str = "ring"
    arrivals: str = "closed"
    """closed: a user waits for her answer; open: she posts on schedule, answered or not."""

    @property
    def offered_rps(self) -> float:
        return float(self.users)

    @property
    def seconds(self) -> int:
        return WARM_UP_S + self.run_time_s + COOL_DOWN_S

    def locust(self, url: str, tokens: Path, folder: Path) -> list[str]:
        """Return the command; it writes requests.csv and accepted.csv into ``folder``."""
        options = {
            "host": url,
            "users": self.users,
            "spawn-rate": max(1, self.users // RAMP_S),
            "run-time": f"{self.seconds}s",
            "graph": self.graph,
            "arrivals": self.arrivals,
            "tokens": tokens,
            "requests": folder / "requests.csv",
            "accepted": folder / "accepted.csv",
            "exit-code-on-error": 0,
            "visible-share": 0,  # the receipts tell it without asking
        }
        return [
            *(sys.executable, "-m", "locust", "-f", "locustfiles/fanout.py"),
            *("--headless", "--only-summary", "--no-audit"),
            *(f"--{name}={value}" for name, value in options.items()),
        ]


class Requests(NamedTuple):
    """The posts that were answered within the measured window."""

    start: float
    end: float
    """The window, in Unix time."""
    latency_ms: NDArray[np.float64]
    """Of those that succeeded."""
    failures: Counter[str]


def read_requests(path: Path, run_time_s: int) -> Requests:
    """Read what Locust's CsvRequestLogger wrote. Raises RunFailed if nothing was posted."""
    with path.open(newline="") as file:
        posts = [row for row in csv.DictReader(file) if (row["request_type"], row["name"]) == POST]
    if not posts:
        raise RunFailed("the load generator got no answer")
    start = min(float(row["timestamp"]) for row in posts) + WARM_UP_S
    end = start + run_time_s
    counted = [row for row in posts if start <= _ended(row) < end]
    good = [float(row["response_time_ms"]) for row in counted if not row["exception"]]
    failures = Counter(row["exception"] for row in counted if row["exception"])
    return Requests(start, end, np.array(good, np.float64), failures)


def _ended(row: dict[str, str]) -> float:
    # What was dropped took no time.
    return float(row["timestamp"]) + float(row["response_time_ms"] or 0) / 1000

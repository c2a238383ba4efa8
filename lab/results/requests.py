"""The requests of a load, and which of them count."""

import csv
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from lab.running.load import Load
from launch.processes import RunFailed

NO_ANSWER = "no answer"


class Request(NamedTuple):
    """Times in Unix time. One that was dropped took no time."""

    name: str
    """Method and route, like "POST /v1/posts/"."""
    begun_at: float
    """Start; for arrivals on a schedule, when it was due."""
    ended_at: float
    """Time of the answer, or of the end of the load without one."""
    error: str
    """Empty if it succeeded."""
    answered: bool = True
    length: int = 0
    """Bytes of the answer."""

    @property
    def ms(self) -> float:
        return (self.ended_at - self.begun_at) * 1000


class Route(NamedTuple):
    latency_ms: list[float]
    """Of those that succeeded."""
    failures: Counter[str]
    """By what went wrong."""


class Requests(NamedTuple):
    """What happened within the measured window."""

    window: tuple[float, float]
    """Start and end, in Unix time."""
    latency_ms: Sequence[float]
    """Of the counted requests that succeeded."""
    failures: Counter[str]
    """Of the counted ones, by what went wrong."""
    routes: Mapping[str, Route]
    """Every request that has a name of its own, counted or not."""
    counted: Sequence[Request]
    """The counted requests, also before and after the window."""
    rows: Sequence[Request]
    """All requests, counted or not."""

    @property
    def answered(self) -> list[Request]:
        """The counted ones that were answered within the window, failures too."""
        start, end = self.window
        return [row for row in self.counted if row.answered and start <= row.ended_at < end]

    @property
    def succeeded(self) -> list[Request]:
        """Those of ``answered`` that succeeded."""
        return [row for row in self.answered if not row.error]

    @property
    def in_flight(self) -> float:
        """How many of the counted ones waited for an answer, on average."""
        start, end = self.window
        waits = (min(row.ended_at, end) - max(row.begun_at, start) for row in self.counted)
        return sum(max(0.0, wait) for wait in waits) / (end - start)

    @property
    def waiting_at_end(self) -> int:
        """How many of the counted ones waited when the window ended."""
        return sum(row.begun_at < self.window[1] <= row.ended_at for row in self.counted)


def read_requests(folder: Path, load: Load) -> Requests:
    """Read what Locust wrote. Raises RunFailed if nothing was answered, or not in the window."""
    rows = [*_read(folder / "requests.csv"), *_read(folder / "unanswered.csv")]
    counted = [row for row in rows if not load.counted or row.name in load.counted]
    if not any(row.answered for row in counted):
        raise RunFailed("the load generator got no answer")
    start = min(row.begun_at for row in counted) + load.warm_up_s
    window = start, start + load.run_time_s
    routes: defaultdict[str, Route] = defaultdict(lambda: Route([], Counter()))
    for row in rows:
        # If all answers are waited for, what was begun in the window counts, else what ended in it.
        at = row.begun_at if load.patience_s else row.ended_at
        if not window[0] <= at < window[1] or not (row.answered or load.patience_s):
            continue
        if row.error:
            routes[row.name].failures[row.error] += 1
        else:
            routes[row.name].latency_ms.append(row.ms)
    chosen = [route for name, route in routes.items() if name in (load.counted or routes)]
    if not chosen:
        raise RunFailed(f"nothing was answered within {load.run_time_s} s: lengthen --run-time")
    latency_ms = [ms for route in chosen for ms in route.latency_ms]
    failures = sum((route.failures for route in chosen), Counter[str]())
    return Requests(window, latency_ms, failures, dict(routes), counted, rows)


def _read(path: Path) -> Iterator[Request]:
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            answered = "waited_ms" not in row
            ms = float(row["response_time_ms"] or 0) if answered else float(row["waited_ms"])
            begun_at = float(row["timestamp"])
            yield Request(
                f"{row['request_type']} {row['name']}",
                begun_at,
                begun_at + ms / 1000,
                row["exception"] if answered else NO_ANSWER,
                answered,
                int(row.get("response_length") or 0),
            )

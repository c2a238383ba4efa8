"""What one post and one read cost, by role, from runs with different reads per post."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from numpy.typing import NDArray

from lab.experiments.mixed.crossover import reads_per_post
from lab.results.result import Result

ROLES = ("web", "workers", "database", "redis", "broker", "proxy")
"""Whose CPU the service uses."""
FEWEST_RATIOS = 2
FAILING = 0.001
GROWING = 0.05
"""Share of the posts by which the backlog of a steady run may grow."""
FEW = 10


@dataclass(frozen=True)
class Costs:
    """CPU microseconds per operation, of a variant on a graph, on the machine of the runs."""

    variant: str
    graph: str
    people: int
    friends: int
    post_us: Mapping[str, float]
    """By role, of one post until it is visible to all friends of its author."""
    read_us: Mapping[str, float]
    """By role, of one page."""
    residual: float
    """Largest difference between a run's CPU and what these costs say, as a share of the former."""
    runs: int
    command: str
    """Repeats one of the runs; the others differ in their loads."""
    calibration_ms: float
    """Median of the runs."""

    def per_operation_us(self, reads_per_post: float) -> float:
        """Return the CPU of all roles per operation, at so many reads per post."""
        post_us, read_us = sum(self.post_us.values()), sum(self.read_us.values())
        return (post_us + reads_per_post * read_us) / (1 + reads_per_post)

    def meets(self, other: "Costs") -> float | None:
        """Return the reads per post from which the other one costs less; None if there are none."""
        saved_us = sum(other.post_us.values()) - sum(self.post_us.values())
        more_us = sum(self.read_us.values()) - sum(other.read_us.values())
        return saved_us / more_us if saved_us > 0 and more_us > 0 else None


def costs_of(results: Sequence[Result]) -> list[Costs]:
    """Return the costs of each variant, graph, number of people and of friends.

    Runs that failed, lost something or answered too little are left out; so is a group with a
    single ratio of reads per post, which cannot tell the two costs apart.
    """
    groups: dict[tuple[object, ...], list[Result]] = {}
    for result in filter(_is_usable, results):
        seed = result.environment["seed"]
        key = (result.variant, seed["graph"], seed["people"], seed["friends"])
        groups.setdefault(key, []).append(result)
    return [_fitted(group) for group in groups.values() if _ratios(group) >= FEWEST_RATIOS]


def steady(result: Result) -> bool:
    """Return whether about as many posts were delivered in the window as were written."""
    grown = (result.balance and result.balance.backlog_growth) or 0
    return abs(grown) <= max(FEW, GROWING * (result.extra.get("posts") or 0.0))


def _is_usable(result: Result) -> bool:
    operations = _operations(result)
    is_whole = result.audit is not None and result.audit["ok"]
    return bool(
        is_whole
        and sum(operations)
        and steady(result)
        and reads_per_post(result.load) is not None
        and result.failures <= FAILING * result.requests
        and all(result.cpu_s.get(role, 0.0) is not None for role in ROLES)
    )


def _operations(result: Result) -> tuple[float, float]:
    """Return the posts that became visible and the pages that were read in the window."""
    return result.extra.get("posts") or 0.0, result.extra.get("reads") or 0.0


def _ratios(results: Iterable[Result]) -> int:
    return len({result.load for result in results})


def _fitted(results: Sequence[Result]) -> Costs:
    first, operations = results[0], np.array([_operations(result) for result in results])
    used_us = {
        role: np.array([result.cpu_s.get(role) or 0.0 for result in results]) * 1e6
        for role in ROLES
    }
    # Divided by the operations, so that every run weighs the same.
    total = operations.sum(axis=1)
    shares = operations / total[:, None]
    costs = {role: _not_negative(shares, used / total) for role, used in used_us.items()}
    measured = np.sum(list(used_us.values()), axis=0) / total
    said = shares @ np.sum(list(costs.values()), axis=0)
    seed = first.environment["seed"]
    return Costs(
        first.variant,
        seed["graph"],
        seed["people"],
        seed["friends"],
        post_us={role: round(float(post), 1) for role, (post, _) in costs.items()},
        read_us={role: round(float(read), 1) for role, (_, read) in costs.items()},
        residual=round(float(np.max(np.abs(said - measured) / measured)), 3),
        runs=len(results),
        command=first.environment["command"],
        calibration_ms=median(result.environment["calibration_ms"] for result in results),
    )


def _not_negative(shares: NDArray[np.float64], used: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the least squares of two costs; where one would be negative, it is 0."""
    found = np.linalg.lstsq(shares, used)[0].astype(np.float64)
    if (found >= 0).all():
        return found
    kept = int(np.argmax(found))
    column = shares[:, kept]
    alone = np.zeros(2)
    alone[kept] = max(0.0, float(column @ used / (column @ column)))
    return alone

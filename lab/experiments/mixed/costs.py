"""What one post and one read cost, by role, from runs with different reads per post."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray

from lab.experiments.mixed.crossover import reads_per_post
from lab.results.result import Result

ROLES = ("web", "workers", "database", "redis", "broker", "proxy")
"""Whose CPU the service uses."""
WORKERS = "workers"
"""They don't see reads."""
FEWEST_RATIOS = 2
FAILING = 0.001
RATES_DIFFER = 1.5
"""Factor between the highest and the lowest rate, from which on each role has a base."""
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
    """By role, of one post until all friends of its author can see it."""
    read_us: Mapping[str, float]
    """By role, of one page."""
    residual: float
    """Largest difference between a run's CPU and what these costs say, as a share of the former."""
    posts_per_s: float
    """Highest of the runs."""
    runs: int
    base_cores: Mapping[str, float] = field(default_factory=dict)
    """By role, what it uses whatever the rate: a drainer looks for posts all the time. Of other
    roles than workers it is only known from runs at different rates."""


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
    return [
        _fitted(group)
        for group in groups.values()
        if len({result.load for result in group}) >= FEWEST_RATIOS
    ]


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


def _fitted(results: Sequence[Result]) -> Costs:
    posts, reads = np.array([_operations(result) for result in results]).T
    seconds = np.array([result.window_s for result in results])
    total = posts + reads  # all is divided by it, so that every run weighs the same
    rates = total / seconds
    rates_differ = rates.max() > RATES_DIFFER * rates.min()
    by_role, expected, measured = {}, np.zeros(len(results)), np.zeros(len(results))
    for role in ROLES:
        used = np.array([result.cpu_s.get(role) or 0.0 for result in results])
        causes = np.column_stack((posts, reads, seconds))
        causes[:, 1] *= role != WORKERS
        causes[:, 2] *= role == WORKERS or rates_differ
        by_role[role] = _not_negative(causes / total[:, None], used / total)
        expected += causes @ by_role[role]
        measured += used
    first = results[0]
    seed = first.environment["seed"]
    return Costs(
        first.variant,
        seed["graph"],
        seed["people"],
        seed["friends"],
        post_us={role: round(float(post) * 1e6, 1) for role, (post, _, _) in by_role.items()},
        read_us={role: round(float(read) * 1e6, 1) for role, (_, read, _) in by_role.items()},
        residual=round(float(np.max(np.abs(expected - measured) / measured)), 3),
        posts_per_s=round(float(np.max(posts / seconds)), 1),
        runs=len(results),
        base_cores={role: round(float(cores), 4) for role, (_, _, cores) in by_role.items()},
    )


def _not_negative(causes: NDArray[np.float64], used: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the costs of causes with the least squares, none of them below 0.

    With few causes, the least squares of each choice of them are tried.
    """
    count = causes.shape[1]
    possible = [np.zeros(count)]
    for chosen in product((False, True), repeat=count):
        costs = np.zeros(count)
        costs[list(chosen)] = np.linalg.lstsq(causes[:, chosen], used)[0]
        if (costs >= 0).all():
            possible.append(costs)
    return min(possible, key=lambda costs: float(np.sum((causes @ costs - used) ** 2)))

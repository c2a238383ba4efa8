"""What the model says of runs that it was not made from."""

from collections.abc import Iterator, Sequence

from lab.advise.candidates import Measured
from lab.advise.model import needs
from lab.advise.situation import Situation
from lab.experiments.mixed.costs import ROLES, steady
from lab.reporting.formats import number
from lab.reporting.page import Table
from lab.results.result import Result

WITHIN = 0.25
"""Share of the measured cores by which the predicted ones may differ."""


def check(results: Sequence[Result], measured: Measured) -> tuple[Table, bool]:
    """Return predicted beside measured cores, and whether all are within the limit.

    Raises ValueError if there is no steady run of a known variant that the costs are not from.
    """
    rows, ratios = [], []
    for result, predicted in _pairs(results, measured):
        used = {role: result.cores(role) or 0.0 for role in ROLES}
        total = sum(used.values())
        ratios.append(sum(predicted.values()) / total)
        rows.append(
            [
                f"{result.variant} {result.load}",
                *(f"{number(predicted[role])} / {number(used[role])}" for role in ROLES[:4]),
                f"{number(sum(predicted.values()))} / {number(total)}",
                f"{ratios[-1]:.2f}",
            ]
        )
    if not rows:
        raise ValueError("no steady run that the costs are not from: run lab run mixed once more")
    head = ["run", *ROLES[:4], "all", "ratio"]
    table = Table("Cores, predicted / measured", head, rows)
    return table, all(abs(ratio - 1) <= WITHIN for ratio in ratios)


def _pairs(
    results: Sequence[Result], measured: Measured
) -> Iterator[tuple[Result, dict[str, float]]]:
    candidates = {candidate.name: candidate for candidate in measured.candidates}
    for result in results:
        posts = result.extra.get("posts")
        is_new = result.started_at not in measured.started
        if posts and is_new and result.window_s and result.variant in candidates and steady(result):
            seed, reads = result.environment["seed"], result.extra.get("reads") or 0.0
            situation = Situation(
                people=seed["people"],
                followers=seed["friends"],
                following=seed["friends"],
                largest=seed["friends"],
                posts_per_s=posts / result.window_s,
                reads_per_post=reads / posts,
            )
            # The laboratory starts one drainer.
            needed = needs(candidates[result.variant], situation, drainers=1)
            yield result, dict(needed.cores)

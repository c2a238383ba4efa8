"""What a task queue costs more than a drainer, for each post."""

from collections import defaultdict
from collections.abc import Iterable
from statistics import median
from typing import NamedTuple

from lab.experiments.queues.presentation import COST
from lab.results.result import Result

DRAINED = "outbox-setbased"


class QueueCost(NamedTuple):
    variant: str
    more_ms: float
    """CPU of the whole service for a post, beyond what it is with a drainer."""


def queue_costs(results: Iterable[Result]) -> list[QueueCost]:
    """Return the cost of each variant that was measured beside a drainer on its database."""
    costs_ms: defaultdict[str, list[float]] = defaultdict(list)
    for result in results:
        if (ms := COST.figure(result)) is not None:
            costs_ms[result.variant].append(ms)
    medians = {variant: median(every) for variant, every in costs_ms.items()}
    found = []
    for variant, ms in medians.items():
        drained = f"{variant.partition('-')[0]}-{DRAINED}"
        if variant != drained and drained in medians:
            found.append(QueueCost(variant, ms - medians[drained]))
    return sorted(found, key=lambda cost: cost.more_ms)

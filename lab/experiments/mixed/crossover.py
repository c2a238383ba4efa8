"""The crossover: the reads per post at which pull costs as much as the best push."""

import re
from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

from lab.results import laws
from lab.results.result import Result
from lab.results.summary import Summary
from launch.variants import Variant

READS = re.compile(r"reads(\d+(?:\.\d+)?)")
"""Name of a load: reads10 has ten pages read per post."""
SEARCHED = re.compile(r"(reads\d+(?:\.\d+)?)at(\d+)(?:_again)?")
"""Name of a step of a search: reads10at400 is at 400 operations per second."""
HOLDS = re.compile(r"holds(\d+(?:\.\d+)?)")
"""Name of a search for the rate that holds."""
NARROW = 1.3
"""A bracket whose ends differ by a smaller factor ends the search."""
MOST_STEPS = 5

Curve = Mapping[float, float]
"""CPU per operation by reads per post, of one variant."""


class Bracket(NamedTuple):
    """Pull costs less than every push at ``low`` reads per post, and more than one at ``high``."""

    low: float
    high: float
    push: str
    """The push variant that costs least at ``high``."""
    at: float
    """Where the two lines between the ends meet."""

    @property
    def is_narrow(self) -> bool:
        return self.high <= NARROW * self.low

    @property
    def middle(self) -> float:
        """Return the reads per post whose share of reads is in the middle of those of the ends."""
        return _per_post((share_of_reads(self.low) + share_of_reads(self.high)) / 2)


class Nowhere(NamedTuple):
    """One of both costs less at every number of reads per post that was tried."""

    winner: str
    low: float
    high: float


def reads_per_post(load: str) -> float | None:
    """Return what the name of a load says; None if it is another kind of load."""
    named = READS.fullmatch(load)
    return float(named[1]) if named else None


def curves(results: Sequence[Result]) -> dict[str, dict[float, float]]:
    """Return the median CPU per operation (ms) by variant and reads per post.

    Runs that were not audited clean, or break a law, are no measurement.
    """
    found: dict[str, dict[float, list[float]]] = {}
    for result in filter(_is_sound, results):
        reads, cost_ms = reads_per_post(result.load), result.extra.get("cpu_ms")
        if reads is not None and cost_ms is not None:
            found.setdefault(result.variant, {}).setdefault(reads, []).append(cost_ms)
    return {name: {at: median(ms) for at, ms in curve.items()} for name, curve in found.items()}


def _is_sound(result: Result) -> bool:
    is_clean = result.audit is not None and result.audit["ok"]
    return is_clean and not any(laws.broken(result))


def crossing(pull: Curve, pushes: Mapping[str, Curve]) -> Bracket | Nowhere | None:
    """Return where pull begins to cost more than the best push; None without a common load.

    Where noise makes the curves cross more than once, the bracket spans all the crossings.
    """
    best = {
        reads: min((curve[reads], name) for name, curve in pushes.items() if reads in curve)
        for reads in sorted(pull)
        if any(reads in curve for curve in pushes.values())
    }
    if not best:
        return None
    dearer = [reads for reads, (cost, _) in best.items() if pull[reads] > cost]
    cheaper = [reads for reads in best if reads not in dearer]
    if not dearer or not cheaper:
        return Nowhere("push" if dearer else "pull", min(best), max(best))
    low = max((reads for reads in cheaper if reads < min(dearer)), default=min(best))
    high = min((reads for reads in dearer if reads > max(cheaper)), default=max(best))
    push = best[high][1]
    return Bracket(low, high, push, _meeting(pull, pushes[push], low, high))


def crossovers(compared: Sequence[Summary]) -> list[Bracket | Nowhere]:
    """Return what each repeat found, in turn; nothing without both push and pull."""
    results = [result for summary in compared for result in summary.results]
    variants = {summary.variant.name: summary.variant for summary in compared}
    found = []
    for repeat in sorted({result.repeat for result in results}):
        measured = curves([result for result in results if result.repeat == repeat])
        crossed = push_or_pull({name: variants[name] for name in measured}, measured)[1]
        if crossed:
            found.append(crossed)
    return found


def push_or_pull(
    variants: Mapping[str, Variant], measured: Mapping[str, Curve]
) -> tuple[str | None, Bracket | Nowhere | None]:
    """Return the first variant that pulls, and where it crosses the others."""
    pulls = [name for name, variant in variants.items() if variant.store_flags.is_computed_on_read]
    if not pulls:
        return None, None
    pushes = {name: measured[name] for name in variants if name not in pulls}
    return pulls[0], crossing(measured[pulls[0]], pushes)


def _meeting(pull: Curve, push: Curve, low: float, high: float) -> float:
    """Return where two lines meet: costs per operation are linear in the share of reads."""
    ends = [
        (share_of_reads(reads), pull[reads] - push[reads]) for reads in (low, high) if reads in push
    ]
    if len(ends) < 2 or ends[0][1] == ends[1][1]:
        return _per_post((share_of_reads(low) + share_of_reads(high)) / 2)
    (start, before), (end, after) = ends
    meeting = start - before * (end - start) / (after - before)
    return _per_post(min(max(meeting, start), end))


def share_of_reads(reads: float) -> float:
    """Return the share of reads among all operations."""
    return reads / (1 + reads)


def _per_post(share: float) -> float:
    return float(f"{share / (1 - share):.3g}")

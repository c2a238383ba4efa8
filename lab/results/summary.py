"""Summaries of several runs, with two verdicts: on deliveries, and on what figures are worth."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from lab.results import figures, laws
from lab.results.result import Figure, Result
from launch.variants import Variant

FAILED, UNSOUND = 1, 3
"""Exit statuses (docs/laboratory.md)."""
HARM = (0, UNSOUND, FAILED, 130).index  # a sort key


class Deliveries(StrEnum):
    """The best first."""

    CLEAN = "clean"
    EXPECTED = "not clean, as expected"
    LOST = "lost or wrong"
    NOT_COMPARED = "not compared"


class Figures(StrEnum):
    """The best first."""

    SOUND = "sound"
    SHARED = "not judged (--shared)"
    SHORT = "window too short"
    INCONSISTENT = "inconsistent"
    BUSY = "machine busy"
    NONE = "not measured"

    @property
    def can_be_compared(self) -> bool:
        """Whether differences count; lower bounds are marked one by one."""
        return self in (Figures.SOUND, Figures.SHARED, Figures.SHORT)


GOOD = (Deliveries.CLEAN, Deliveries.EXPECTED, Figures.SOUND, Figures.SHARED)


def deliveries_of(variant: Variant, result: Result) -> Deliveries:
    if result.audit is None or result.audit.get("expected") == 0:
        return Deliveries.NOT_COMPARED
    if not variant.expects(result.audit):
        return Deliveries.LOST
    return Deliveries.CLEAN if result.audit["ok"] else Deliveries.EXPECTED


def figures_of(result: Result) -> Figures:
    """Judge a run; "void" among its own figures: the load generator did not send what it should."""
    if result.audit is None:
        return Figures.NONE
    if any(laws.utilisation(result)):
        return Figures.BUSY
    if any(laws.broken(result)) or result.extra.get("void"):
        return Figures.INCONSISTENT
    if result.shared:
        return Figures.SHARED
    return Figures.SHORT if laws.is_cut_off(result) else Figures.SOUND


SAME = 0.02
"""Two figures that differ by a smaller share always tie."""
ENOUGH_REPEATS = 3
"""Runs from which on the intervals decide ties."""


@dataclass(frozen=True)
class Summary:
    """The runs of one variant under one load, with the median of each figure."""

    variant: Variant
    results: Sequence[Result]
    tried: Sequence[Result] = ()
    """Every run of the searches that found these results; empty where nothing was searched."""

    @property
    def load(self) -> str:
        return self.results[0].load

    @property
    def name(self) -> str:
        return f"{self.variant.name}, {self.load}" if self.load else self.variant.name

    @property
    def is_clean(self) -> bool:
        """Every run finished, and its audit found nothing."""
        return all(result.audit is not None and result.audit["ok"] for result in self.results)

    @property
    def deliveries(self) -> Deliveries:
        """The verdict on the worst of the runs."""
        every = [deliveries_of(self.variant, result) for result in self.results]
        return max(every, key=list(Deliveries).index)

    @property
    def figures(self) -> Figures:
        """The verdict on the worst figures."""
        return max(map(figures_of, self.results), key=list(Figures).index)

    @property
    def objection(self) -> str | None:
        """What is not as it should be beside the deliveries, in capitals; None if nothing."""
        broke = any(result.held is False for result in self.results)
        return "NOT HELD" if broke and self.figures.can_be_compared else None

    @property
    def nothing(self) -> str:
        """Text of a picture where there is no figure."""
        if any(result.audit is None for result in self.results):
            return "did not finish"
        has_limits = any(result.held is not None for result in self.results)
        return "nothing held" if has_limits else "nothing succeeded"

    @property
    def status(self) -> int:
        """The exit status."""
        if self.objection or self.deliveries not in GOOD:
            return FAILED
        return 0 if self.figures in GOOD else UNSOUND

    @property
    def is_cut_off(self) -> bool:
        """The latencies of a run are lower bounds: its window was too short for them."""
        return any(map(laws.is_cut_off, self.results))

    @property
    def as_expected(self) -> bool:
        """Every run finished with the audit that it should have, and there is no objection."""
        return self.status != FAILED

    @property
    def can_be_compared(self) -> bool:
        return self.as_expected and self.figures.can_be_compared

    @property
    def generator_saturated(self) -> bool:
        """Whether Locust was the limit; on a busy machine it waits for other programs."""
        saturated = any(result.generator_saturated for result in self.results)
        return saturated and self.figures is not Figures.BUSY

    def values(self, figure: Figure) -> list[float]:
        return [value for value in map(figure, self.results) if value is not None]

    def median(self, figure: Figure) -> float | None:
        values = self.values(figure)
        return median(values) if values else None

    def interval(self, figure: Figure) -> tuple[float, float]:
        """Return the 95 % bootstrap interval of the median."""
        return figures.interval_of_median(self.values(figure))


def is_tie(one: Summary, other: Summary, figure: Figure) -> bool:
    """Return whether two summaries tie by a figure.

    With enough runs of both, the intervals of their medians overlap; with fewer, they differ by
    less than the speed of the machine did (calibration).
    """
    a, b = one.median(figure), other.median(figure)
    if not a or not b:
        return a == b
    if max(a, b) / min(a, b) <= 1 + SAME:
        return True
    if min(len(one.values(figure)), len(other.values(figure))) >= ENOUGH_REPEATS:
        (low, high), (other_low, other_high) = one.interval(figure), other.interval(figure)
        return low <= other_high and other_low <= high
    speeds_ms = [r.environment["calibration_ms"] for r in (*one.results, *other.results)]
    return bool(max(a, b) / min(a, b) <= max(speeds_ms) / min(speeds_ms))

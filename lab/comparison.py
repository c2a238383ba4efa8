"""What the results of an experiment say when they are put side by side."""

from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import NamedTuple

from lab.result import Result
from lab.variants import Variant

Figure = Callable[[Result], float | None]
SAME = 0.02
"""Rates this close are equal: lag decides between them."""


class Line(NamedTuple):
    """What the runs of one variant come to: the median of each figure, and the worst audit."""

    results: Sequence[Result]

    @property
    def variant(self) -> Variant:
        return Variant.named(self.results[0].variant)

    @property
    def finished(self) -> bool:
        return all(result.audit is not None for result in self.results)

    @property
    def is_clean(self) -> bool:
        """Every run finished, and its audit found nothing."""
        return all(result.audit is not None and result.audit["ok"] for result in self.results)

    @property
    def as_expected(self) -> bool:
        """Every run finished, with the audit that the variant should have."""
        expected = self.variant.should_be_clean
        return all(r.audit is not None and r.audit["ok"] == expected for r in self.results)

    @property
    def generator_saturated(self) -> bool:
        return any(result.generator_saturated for result in self.results)

    @property
    def worst_audit(self) -> dict[str, int] | None:
        """None unless every run has one."""
        audits = [result.audit for result in self.results if result.audit is not None]
        return max(audits, key=wrong) if len(audits) == len(self.results) else None

    def values(self, figure: Figure) -> list[float]:
        return [value for value in map(figure, self.results) if value is not None]

    def median(self, figure: Figure) -> float | None:
        values = self.values(figure)
        return median(values) if values else None

    def spread(self, figure: Figure) -> tuple[float, float]:
        """Return the smallest and the largest; of no value (0, 0)."""
        values = self.values(figure) or [0.0]
        return min(values), max(values)


def lines(results: Iterable[Result]) -> list[Line]:
    """Group results by variant, in the order of their first runs."""
    by_variant: dict[str, list[Result]] = {}
    for result in results:
        by_variant.setdefault(result.variant, []).append(result)
    return [Line(group) for group in by_variant.values()]


def ranked(compared: Sequence[Line]) -> list[Line]:
    """Return the clean variants, the best first: by posts/s, and where those are equal by lag.

    Empty where the load generator was the limit of one of them: then the figures are Locust's.
    """
    clean = [line for line in compared if line.is_clean and line.variant.delivers]
    if any(line.generator_saturated for line in clean):
        return []
    return sorted(clean, key=_rank)


def _rank(line: Line) -> tuple[float, float]:
    offered = line.median(lambda r: r.offered_rps) or 1.0
    rate = line.median(lambda r: r.achieved_rps) or 0.0
    lag = line.median(lambda r: r.lag_ms.get("p99"))
    return -round(rate / offered / SAME), float("inf") if lag is None else lag


def wrong(audit: dict[str, int]) -> int:
    return audit["missing"] + audit["duplicated"] + audit["unexpected"]


def answer(compared: Sequence[Line]) -> str:
    """Say in two sentences what came out."""
    best = ranked(compared)
    saturated = [line.variant.name for line in compared if line.generator_saturated]
    if saturated:
        return (
            f"Not ranked: Locust itself was the limit of {_listed(saturated)}. Offer less, with "
            "fewer users."
        )
    if not best:
        return "No variant that delivers finished with a clean audit. See what failed."
    return f"{_praise(best[0])} {_rest(best, compared)}"


def _praise(line: Line) -> str:
    offered = line.median(lambda r: r.offered_rps) or 0.0
    rate = line.median(lambda r: r.achieved_rps) or 0.0
    deliveries = line.median(lambda r: r.deliveries_per_s) or 0.0
    lag = line.median(lambda r: r.lag_ms.get("p99")) or 0.0
    return (
        f"{line.variant.name} answered {rate:,.0f} of the {offered:,.0f} posts/s offered, "
        f"made {deliveries:,.0f} deliveries/s and had 99 % of its posts in every timeline within "
        f"{lag:,.0f} ms."
    )


def _rest(best: Sequence[Line], compared: Sequence[Line]) -> str:
    slowest = min(best, key=lambda line: line.median(lambda r: r.achieved_rps) or 0.0)
    failed = [line.variant.name for line in compared if not line.as_expected]
    if failed:
        return f"Failed: {_listed(failed)}."
    if slowest is best[0]:
        return "Its audit was clean."
    ratio = (best[0].median(lambda r: r.achieved_rps) or 0.0) / (
        slowest.median(lambda r: r.achieved_rps) or 1.0
    )
    return (
        f"That is {ratio:,.0f} times what {slowest.variant.name} answered; "
        "all audits were as expected."
    )


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

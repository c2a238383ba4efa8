"""A line of a comparison."""

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from lab.result import Figure, Result
from lab.variants import Variant


class Line(NamedTuple):
    """What the runs of one variant under one load come to: the median of each figure."""

    variant: Variant
    results: Sequence[Result]
    tried: Sequence[Result] = ()
    """All that a search has run, where the line is what it found."""

    @property
    def load(self) -> str:
        return self.results[0].load

    @property
    def name(self) -> str:
        return f"{self.variant.name}, {self.load}" if self.load else self.variant.name

    @property
    def finished(self) -> bool:
        return all(result.audit is not None for result in self.results)

    @property
    def is_clean(self) -> bool:
        """Every run finished, and its audit found nothing."""
        return all(result.audit is not None and result.audit["ok"] for result in self.results)

    @property
    def held(self) -> bool:
        """No run broke the limits of its load; most loads have none."""
        return all(result.held is not False for result in self.results)

    @property
    def as_expected(self) -> bool:
        """Every run finished and held, with the audit that the variant should have."""
        return self.held and all(self.variant.expects(result.audit) for result in self.results)

    @property
    def generator_saturated(self) -> bool:
        return any(result.generator_saturated for result in self.results)

    def values(self, figure: Figure) -> list[float]:
        return [value for value in map(figure, self.results) if value is not None]

    def median(self, figure: Figure) -> float | None:
        values = self.values(figure)
        return median(values) if values else None

    def spread(self, figure: Figure) -> tuple[float, float]:
        """Return the smallest and the largest; of no value (0, 0)."""
        values = self.values(figure) or [0.0]
        return min(values), max(values)

"""The number of repeats."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import NamedTuple

from lab.reporting.comparison import presentation_of, summaries
from lab.results.result import read_results
from lab.results.summary import Summary

LEAST, MOST = 3, 9
"""Runs of each variant, where a precision is asked for."""


class Repeats(NamedTuple):
    least: int = 1
    precision: float | None = None
    """Widest allowed interval of all runs, in percent of the median."""

    @property
    def first(self) -> int:
        """How many there are in any case."""
        return max(self.least, LEAST) if self.precision else self.least

    def numbers(self, out: Path) -> Iterator[int]:
        """Yield the number of each repeat, until the results in ``out`` are precise enough."""
        for number in count(1):
            yield number
            if number >= self.first and (number >= MOST or self._is_reached(out)):
                return

    def _is_reached(self, out: Path) -> bool:
        if self.precision is None:
            return True
        return all(
            _width(summary) <= self.precision / 100 for summary in summaries(read_results(out))
        )


def _width(summary: Summary) -> float:
    """Return how wide the interval of the headline figure is, as a share of its median."""
    figure = presentation_of([summary]).headline.figure
    low, high = summary.spread(figure)
    return (high - low) / (summary.median(figure) or 1.0)

"""Runs that are held to thresholds: each records whether it kept them."""

from dataclasses import dataclass
from typing import ClassVar

from lab.results.result import Result
from lab.results.summary import Summary


def held(result: Result) -> bool | None:
    """Return whether a run kept its thresholds; None if it has none, or did not finish."""
    found = result.extra.get("held")
    return None if found is None else found > 0


@dataclass(frozen=True)
class HeldSummary(Summary):
    """The runs of one variant, none of which may break its thresholds."""

    nothing: ClassVar[str] = "nothing held"

    @property
    def objection(self) -> str | None:
        broke = any(held(result) is False for result in self.results)
        return "NOT HELD" if broke and self.figures.can_be_compared else None

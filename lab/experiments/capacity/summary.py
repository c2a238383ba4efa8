"""What searches come to: the highest rate that held in each."""

from collections.abc import Sequence
from dataclasses import dataclass

from lab.results.result import Result
from lab.results.summary import Summary
from lab.results.thresholds import HeldSummary, held
from launch.variants import Variant


@dataclass(frozen=True)
class SearchSummary(HeldSummary):
    """What searches found, and every run that they tried."""

    tried: Sequence[Result] = ()


def tried(summary: Summary) -> Sequence[Result]:
    """Return every run of the searches that a summary is of."""
    return summary.tried if isinstance(summary, SearchSummary) else ()


def by_search(results: Sequence[Result]) -> list[list[Result]]:
    repeats = sorted({result.repeat for result in results})
    return [[result for result in results if result.repeat == repeat] for repeat in repeats]


def found_by(variant: Variant, steps: Sequence[Result]) -> Result:
    """Return what a search came to: the highest rate that held, else the lowest.

    A step that drained, and whose audit found what it shouldn't, is worse than any rate.
    """
    wrong = [result for result in steps if _is_wrong(result, variant)]
    kept = [result for result in steps if held(result)]
    if wrong:
        return wrong[0]
    return max(kept, key=rate_of) if kept else min(steps, key=rate_of)


def rate_of(result: Result) -> float:
    return result.offered_rps


def _is_wrong(result: Result, variant: Variant) -> bool:
    """Tell whether all posts have their receipt, and the audit isn't as it should be."""
    is_drained = result.audit is not None and result.drain_s is not None
    return is_drained and not variant.expects(result.audit)

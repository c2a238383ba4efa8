"""A search: runs of a variant at one rate after the other, each of which holds or breaks."""

from collections.abc import Callable, Sequence

from lab.experiments.base import Measured
from lab.experiments.capacity.bisection import Bracket
from lab.experiments.capacity.limits import Limits, broken, is_far_off, was_slowed
from lab.experiments.capacity.presentation import BROKE
from lab.progress import console
from lab.results.result import Result
from lab.results.thresholds import held
from lab.running.load import Load
from launch.variants import Variant


def next_step(
    variant: Variant,
    results: Sequence[Result],
    loads_at: Callable[[int], Sequence[Load]],
    first: int,
    most: int,
) -> Load | None:
    """Return the load after those that gave these results; None when the search is over.

    ``loads_at`` returns the load of a rate, and the one that follows if it breaks.
    """
    bracket, done = Bracket(), 0
    rate: int | None = first
    while rate is not None:
        once, again, *_ = loads_at(rate)
        for load in (once, again):
            if done == len(results):
                return load
            done += 1
            if not _is_tried_again(results[:done], variant, load is again):
                break
        bracket = bracket.after(rate, bool(held(results[done - 1])))
        rate = bracket.next_rate(most)
    return None


def judge(measured: Measured, limits: Limits) -> None:
    """Record whether a run held, and which limits it broke."""
    result = measured.result
    why = list(broken(result, measured.service.variant, limits))
    result.extra["held"] = float(not why)
    result.errors += [f"{BROKE}{limit}" for limit in why]
    console.print(f"  {BROKE}{', '.join(why)}" if why else "  held")


def _is_tried_again(results: Sequence[Result], variant: Variant, is_again: bool) -> bool:
    """Tell whether the last of these runs of a variant is tried once more."""
    last = results[-1]
    if held(last) or is_again:
        return False
    return was_slowed(results) or not is_far_off(last, variant)

"""The search for the highest rate that holds: runs at one rate after the other."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from lab.experiments.base import Measured, RunOptions
from lab.progress import console
from lab.reporting.formats import number
from lab.results.result import Result
from lab.results.summary import Summary
from lab.running.load import Load
from launch.variants import Variant

LEAST = 10
"""Lowest rate, per second; what breaks here holds nothing."""
STEP = 5
"""Rates are multiples of this."""
NARROW = 0.04
"""Share of the rate that held; a narrower bracket ends the search."""
FAILING = 0.001
ANSWERED = 0.99
FAR_OFF = 0.8
"""A run that answers a smaller share of its offered rate is far beyond its limit."""
SLOWED = 1.25
"""A run whose calibration is this many times that of a quieter run was slowed."""
BROKE = "broke: "
"""Prefix of the errors that name a broken limit."""


class Limits(NamedTuple):
    """What a rate keeps if it holds; the names are those of the options of ``lab run capacity``."""

    limit_p99_ms: float = 1000
    """Of the requests' p99."""
    limit_lag_ms: float = 500
    """Of the lag's p99."""
    limit_rps: float = 4000
    """Highest rate that is tried."""


def limits_of(options: RunOptions) -> Limits:
    """Return the limits that the command line gives, or the usual ones."""
    return Limits()._replace(**{k: v for k, v in options.own.items() if k in Limits._fields})


class Bracket(NamedTuple):
    """The highest rate that held and the lowest that broke, per second."""

    held: int = 0
    broke: int | None = None

    def next_rate(self, most: int) -> int | None:
        """Return the rate to try next; None when the search is over.

        Twice what held until something breaks, half of what broke until something holds, and then
        the middle.
        """
        if self.broke is None:
            return min(2 * self.held, most) if self.held < most else None
        if not self.held:
            return max(_rounded(self.broke / 2), LEAST) if self.broke > LEAST else None
        middle = _rounded((self.held + self.broke) / 2)
        is_narrow = self.broke - self.held <= NARROW * self.held
        return None if is_narrow or not self.held < middle < self.broke else middle


def _rounded(rate: float) -> int:
    return STEP * round(rate / STEP)


def first_rate(options: RunOptions, usual: int) -> int:
    return min(max(options.users or usual, LEAST), int(limits_of(options).limit_rps))


def again(load: Load) -> Load:
    """Return the load that follows one that broke, at the same rate."""
    return replace(load, name=f"{load.name}_again", optional=True)


def next_step(
    variant: Variant,
    options: RunOptions,
    results: Sequence[Result],
    load_at: Callable[[int], Load],
    usual: int,
) -> Load | None:
    """Return the load after those that gave these results; None when the search is over.

    A rate that breaks is tried once more, because the machine is noisy; not if it was far beyond
    its limit while the machine was as fast as before. ``usual``: the rate to begin with.
    """
    bracket, done = Bracket(), 0
    rate: int | None = first_rate(options, usual)
    while rate is not None:
        once = load_at(rate)
        for load in (once, again(once)):
            if done == len(results):
                return load
            done += 1
            if not _may_be_noise(results[:done], variant):
                break
        bracket = bracket._replace(**{"held" if results[done - 1].held else "broke": rate})
        rate = bracket.next_rate(int(limits_of(options).limit_rps))
    return None


def _may_be_noise(results: Sequence[Result], variant: Variant) -> bool:
    """Return whether the last of these runs broke, and a quieter machine might help."""
    speeds_ms = [result.environment["calibration_ms"] for result in results]
    was_slowed = speeds_ms[-1] > SLOWED * min(speeds_ms)
    return not results[-1].held and (was_slowed or not is_far_off(results[-1], variant))


def is_far_off(result: Result, variant: Variant) -> bool:
    """Return whether a run broke its limits by far."""
    answered = result.achieved_rps or 0.0
    return answered < FAR_OFF * result.offered_rps or not variant.expects(result.audit)


def judge(measured: Measured) -> None:
    """Record whether a run held, and which limits it broke."""
    result, limits = measured.result, limits_of(measured.options)
    why = list(broken(result, measured.service.variant, limits))
    result.extra["held"] = float(not why)
    result.errors += [f"{BROKE}{limit}" for limit in why]
    console.print(f"  {BROKE}{', '.join(why)}" if why else "  held")


def broken(result: Result, variant: Variant, limits: Limits) -> Iterator[str]:
    """Yield each limit that a run broke; nothing if it held."""
    answered = result.achieved_rps or 0.0
    p99_ms, lag_ms = result.latency_ms.get("p99"), result.lag_ms.get("p99")
    if result.failures > FAILING * result.requests:
        yield f"{result.failures / result.requests:.2%} failed > {FAILING:.1%}"
    if answered < ANSWERED * result.offered_rps:
        yield f"{number(answered)} answered per second < {ANSWERED:.0%} of {result.offered_rps:,g}"
    if p99_ms is None or p99_ms > limits.limit_p99_ms:
        yield f"p99 {number(p99_ms)} ms > {limits.limit_p99_ms:,g}"
    if variant.delivers and (lag_ms is None or lag_ms > limits.limit_lag_ms):
        yield f"lag p99 {number(lag_ms)} ms > {limits.limit_lag_ms:,g}"
    if not variant.expects(result.audit):
        yield "the audit is not as it should be"


def summary_of(variant: Variant, tried: Sequence[Result]) -> Summary:
    """Return what the searches of a variant found, one result each."""
    return Summary(variant, [found_by(variant, steps) for steps in by_search(tried)], tried)


def by_search(results: Sequence[Result]) -> list[list[Result]]:
    repeats = sorted({result.repeat for result in results})
    return [[result for result in results if result.repeat == repeat] for repeat in repeats]


def found_by(variant: Variant, steps: Sequence[Result]) -> Result:
    """Return what a search came to: the highest rate that held, else the lowest.

    A step that drained, and whose audit found what it shouldn't, is worse than any rate.
    """
    for result in steps:
        is_drained = result.audit is not None and result.drain_s is not None
        if is_drained and not variant.expects(result.audit):
            return result
    held = [result for result in steps if result.held]
    return max(held, key=_rate) if held else min(steps, key=_rate)


def _rate(result: Result) -> float:
    return result.offered_rps


def held_rate(result: Result) -> float | None:
    return result.offered_rps if result.held else None


def remarks_on(summary: Summary) -> list[str]:
    """Return a remark on each search that a summary is of."""
    return [
        f"{summary.name}: {'; '.join(_in_words(found_by(summary.variant, steps), steps))}."
        for steps in by_search(summary.tried)
    ]


def _in_words(found: Result, steps: Sequence[Result]) -> Iterator[str]:
    """Yield what held, what broke next, and which cores were busy."""
    broke = [step for step in steps if not step.held and step.offered_rps > found.offered_rps]
    nearest = min(broke, key=_rate, default=None) if found.held else found
    rate = f"{found.offered_rps:,g}/s"
    yield f"{rate} held" if found.held else "no rate holds"
    if nearest is None:
        yield "nothing higher was tried"
    else:
        yield f"{nearest.offered_rps:,g}/s broke ({', '.join(_why(nearest))})"
    if found.cpu_s:
        yield f"at {rate} {_cores(found)}"
    saturated = [run.offered_rps for run in (found, nearest) if run and run.generator_saturated]
    if saturated:
        rates = " and ".join(f"{rate:,g}/s" for rate in dict.fromkeys(saturated))
        yield f"Locust itself was at its limit at {rates}"


def _why(result: Result) -> list[str]:
    broke = [error.removeprefix(BROKE) for error in result.errors if error.startswith(BROKE)]
    return broke or [error.partition("\n")[0] for error in result.errors[-1:]]


def _cores(result: Result) -> str:
    used = {role: result.cores(role) or 0.0 for role in result.cpu_s}
    most_first = sorted(used, key=used.__getitem__, reverse=True)
    shares = ", ".join(f"{role} {number(used[role])}" for role in most_first if used[role] >= 0.01)
    return f"{number(result.cores_busy)} of {result.environment['cpus']} cores are busy ({shares})"

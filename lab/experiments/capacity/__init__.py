"""Capacity: the highest rate of posts that a variant holds."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

from lab.reporting import plots
from lab.experiments.capacity.bisection import Bracket, first_rate
from lab.experiments.base import CORES_BUSY, CPU, LATENCY, P99, Asked, Column, Measured, Plot
from lab.experiments.fanout import DELIVERIES, LAG_P99, POSTS, Fanout
from lab.experiments.capacity.limits import ANSWERED, FAILING, Limits, broken, is_far_off, was_slowed
from lab.results.summary import Summary
from lab.running.load import Load
from lab.reporting.formats import number
from lab.progress import console
from lab.results.result import Result
from lab.running.rounds import Search
from launch.variants import Variant

BROKE = "broke: "
"""An error of a run that says which limit it didn't keep."""
FLOOR = "null"
"""The strategy that shows what everything but the fan-out costs."""
ROLES = ("web", "workers", "database", "redis", "broker", "locust")

HELD = Column("held /s", lambda r: r.offered_rps if r.held else None, spread=True, brief=True)


def cores_of(role: str) -> Column:
    return Column(f"{role} cores", lambda r: r.cores(role))


class Capacity(Fanout):
    """A search: each of its steps is a run of the fan-out at a rate, audit included.

    What breaks is tried once more before it counts: the machine is noisy. Not if it was far off,
    while the machine was as quick as it had been.
    """

    name = "capacity"
    variants = (
        "mysql_tuned-null",
        "mysql_tuned-outbox-ring",
        "mysql_tuned-outbox-packed",
        "mysql_tuned-outbox-setbased",
        "mysql_tuned-inline-setbased",
        "sqlite-outbox-packed",
        "sqlite-outbox-setbased",
    )
    published = ()
    columns = (
        HELD,
        POSTS._replace(brief=False),
        DELIVERIES,
        P99._replace(brief=True),
        LAG_P99,
        *map(cores_of, ROLES),
        CORES_BUSY._replace(brief=True),
    )
    headline = HELD
    axis = "highest rate of posts that held (success)"
    contrast = "That is {ratio} times what {name} holds."
    pictures = (
        Plot(
            "The search",
            "The rates that were tried, in turn: dots held, crosses broke.",
            plots.search,
        ),
        CPU._replace(text="Cores busy at the highest rate that held."),
        LATENCY,
    )
    limitations = (
        f"A rate holds if at least {ANSWERED:.0%} of it is answered, at most {FAILING:.1%} fails, "
        "p99 and the lag's p99 keep the limits of the command, and the audit is as it should be.",
        "The load generator needs cores of the same machine, and is part of what holds.",
        "Rates a few percent apart are not told apart: the bisection ends there, and a second "
        "search of the same variant may end elsewhere (--repeat).",
        *Fanout.limitations,
    )
    drain_within_s = 60
    searches = True

    def loads(self, asked: Asked) -> list[Load]:
        """Return the first step, and the one that follows if it breaks."""
        rate = first_rate(asked.users or 500, asked.limits.rps)
        (load,) = super().loads(asked._replace(users=rate))
        first = replace(load, name=f"{rate}rps", limits=asked.limits)
        return [first, replace(first, name=f"{rate}rps_again", optional=True)]

    def search(self, variant: Variant, asked: Asked) -> Search:
        if asked.loads:
            yield from super().search(variant, asked)
            return
        bracket, tried = Bracket(), list[Result]()
        rate: int | None = first_rate(asked.users or 500, asked.limits.rps)
        while rate is not None:
            held = yield from self._try(asked._replace(users=rate), tried)
            bracket = bracket.after(rate, held)
            rate = bracket.next_rate(asked.limits.rps)

    def _try(self, asked: Asked, tried: list[Result]) -> Generator[Load, Result, bool]:
        """Return whether a rate held; what it came to is added to ``tried``."""
        first, again = self.loads(asked)
        result = yield first
        tried.append(result)
        far_off = is_far_off(result, self.variant(result.variant))
        if not result.held and (was_slowed(tried) or not far_off):
            result = yield again
            tried.append(result)
        return bool(result.held)

    def conclude(self, measured: Measured) -> None:
        super().conclude(measured)
        result, limits = measured.result, measured.load.limits or Limits()
        why = list(broken(result, measured.service.variant, limits))
        result.extra["held"] = float(not why)
        result.errors += [f"{BROKE}{limit}" for limit in why]
        console.print(f"  {BROKE}{', '.join(why)}" if why else "  held")

    def lines(self, results: Sequence[Result]) -> list[Summary]:
        """Return a line a variant, of the highest rate that held in each of its searches."""
        return [
            Summary(
                line.variant,
                [self._found(line.variant, steps) for steps in _by_search(line.results)],
                tried=line.results,
            )
            for line in super().lines([replace(result, load="") for result in results])
        ]

    def _found(self, variant: Variant, steps: Sequence[Result]) -> Result:
        """Return what a search came to: the highest rate that held, else the lowest.

        A step that drained, and whose audit found what it shouldn't, is worse than any rate.
        """
        wrong = [result for result in steps if _is_wrong(result, variant)]
        held = [result for result in steps if result.held]
        if wrong:
            return wrong[0]
        return max(held, key=_rate) if held else min(steps, key=_rate)

    def praise(self, line: Summary) -> str:
        rate, deliveries, p99, lag, cores = (
            number(line.median(column.figure))
            for column in (HELD, DELIVERIES, P99, LAG_P99, CORES_BUSY)
        )
        return (
            f"{line.name} holds {rate} posts/s: {deliveries} deliveries/s, 99 % of its posts "
            f"answered within {p99} ms and in every timeline within {lag} ms, with {cores} cores "
            "busy."
        )

    def beside(self, compared: Sequence[Summary]) -> str:
        """Return the fan-out tax."""
        floors = [line for line in compared if line.variant.strategy == FLOOR]
        return " ".join(filter(None, (_tax(floor, compared) for floor in floors)))

    def rank(self, line: Summary) -> tuple[float, ...]:
        return (-(line.median(HELD.figure) or 0.0),)

    def remarks(self, line: Summary) -> Sequence[str]:
        return [
            f"{line.name}: {'; '.join(_told(found, steps))}."
            for found, steps in zip(line.results, _by_search(line.tried), strict=True)
        ]


def _by_search(results: Sequence[Result]) -> list[list[Result]]:
    repeats = sorted({result.repeat for result in results})
    return [[result for result in results if result.repeat == repeat] for repeat in repeats]


def _rate(result: Result) -> float:
    return result.offered_rps


def _is_wrong(result: Result, variant: Variant) -> bool:
    """Tell whether all posts have their receipt, and the audit isn't as it should be."""
    is_drained = result.audit is not None and result.drain_s is not None
    return is_drained and not variant.expects(result.audit)


def _told(found: Result, steps: Sequence[Result]) -> Iterator[str]:
    """Say what held, what broke next, and what was busy."""
    broke = [it for it in steps if not it.held and _rate(it) > _rate(found)]
    nearest = min(broke, key=_rate, default=None) if found.held else found
    yield f"{_rate(found):,g}/s held" if found.held else "no rate holds"
    if nearest is None:
        yield "nothing higher was tried"
    else:
        yield f"{_rate(nearest):,g}/s broke ({', '.join(_why(nearest))})"
    if found.cpu_s:
        yield f"at {_rate(found):,g}/s {_cores(found)}"
    saturated = [it for it in (found, nearest) if it and it.generator_saturated]
    if saturated:
        yield "Locust itself was at its limit at " + " and ".join(
            f"{rate:,g}/s" for rate in dict.fromkeys(map(_rate, saturated))
        )


def _why(result: Result) -> list[str]:
    broke = [it.removeprefix(BROKE) for it in result.errors if it.startswith(BROKE)]
    return broke or [error.partition("\n")[0] for error in result.errors[-1:]]


def _cores(result: Result) -> str:
    used = {role: result.cores(role) or 0.0 for role in result.cpu_s}
    most_first = sorted(used, key=used.__getitem__, reverse=True)
    shares = ", ".join(f"{role} {number(used[role])}" for role in most_first if used[role] >= 0.01)
    return f"{number(result.cores_busy)} of {result.environment['cpus']} cores are busy ({shares})"


def _tax(floor: Summary, compared: Sequence[Summary]) -> str:
    """Say which share of what ``floor`` holds its neighbours hold."""
    held = floor.median(HELD.figure)
    shares = [
        f"{line.name} holds {(line.median(HELD.figure) or 0.0) / held:.2f}"
        for line in compared
        if held and line.variant.delivers and line.variant.database == floor.variant.database
    ]
    return f"Of what {floor.name} holds, {', '.join(shares)}." if shares else ""

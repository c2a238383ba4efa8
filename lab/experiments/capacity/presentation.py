"""Columns, ranking and pictures of capacity."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from operator import methodcaller

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from lab.experiments.capacity.limits import ANSWERED, FAILING
from lab.experiments.capacity.summary import SearchSummary, by_search, found_by, rate_of, tried
from lab.experiments.fanout.presentation import DELIVERIES, LAG_P99, POSTS, FanoutPresentation
from lab.reporting.formats import number
from lab.reporting.plots import Line, as_svg, colours_of, legend, panel, panels
from lab.reporting.presentation import CORES_BUSY, CPU, LATENCY, P99, Column, Plot
from lab.results.result import Result
from lab.results.summary import Summary
from lab.results.thresholds import held
from launch.variants import Variant

BROKE = "broke: "
"""Prefix of the errors that name a broken limit."""
FLOOR = "null"
"""The strategy that delivers nothing: the cost of everything but the fan-out."""
ROLES = ("web", "workers", "database", "redis", "broker", "locust")
HELD = Column("held /s", lambda r: r.offered_rps if held(r) else None, spread=True, brief=True)


@as_svg
def search(width: float, compared: Sequence[Summary]) -> Figure:
    """The rates that were tried, in turn: a dot where one held, a cross where it broke."""
    figure, (axes,) = panels(width)
    lines = []
    for summary in compared:
        colour = colours_of(compared)[summary.variant.name]
        for at, steps in enumerate(by_search(tried(summary))):
            points = [(turn, it.offered_rps) for turn, it in enumerate(steps, start=1)]
            lines.append(Line("" if at else summary.name, points, colour, summary.name))
            for point, result in zip(points, steps, strict=True):
                lines.append(Line("", [point], colour, form="o" if held(result) else "x"))
    panel(axes, lines, "step of the search", "posts/s offered")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    return legend(figure)


class CapacityPresentation(FanoutPresentation):
    published = ()
    measures_generator = True
    condition = "that delivers finished with a clean audit, within the limits"
    columns = (
        HELD,
        POSTS._replace(brief=False),
        DELIVERIES,
        P99._replace(brief=True),
        LAG_P99,
        *(Column(f"{role} cores", methodcaller("cores", role)) for role in ROLES),
        CORES_BUSY._replace(brief=True),
    )
    headline = HELD
    axis = "highest rate that held, posts per second"
    contrast = "That is {ratio} times what {name} holds."
    pictures = (
        Plot(
            "The search",
            "The rates that were tried, in turn: dots held, crosses broke.",
            search,
        ),
        CPU._replace(text="Cores busy at the highest rate that held."),
        LATENCY,
    )
    limitations = (
        f"A rate holds if at least {ANSWERED:.0%} of it is answered, at most {FAILING:.1%} fails, "
        "p99 and the lag's p99 keep the limits of the command, and the audit is as it should be.",
        "The load generator needs cores of the same machine, and is part of what holds.",
        "Rates a few percent apart are a tie: the bisection ends there, and a second "
        "search of the same variant may end elsewhere (--repeat).",
        *FanoutPresentation.limitations,
    )

    def summaries(
        self, results: Sequence[Result], variant_named: Callable[[str], Variant]
    ) -> list[Summary]:
        """Return a summary per variant, of the highest rate that held in each of its searches."""
        of_all_loads = [replace(result, load="") for result in results]
        return [
            SearchSummary(
                summary.variant,
                [found_by(summary.variant, steps) for steps in by_search(summary.results)],
                tried=summary.results,
            )
            for summary in super().summaries(of_all_loads, variant_named)
        ]

    def praise(self, summary: Summary) -> str:
        rate, deliveries, p99, lag, cores = (
            number(summary.median(column.figure))
            for column in (HELD, DELIVERIES, P99, LAG_P99, CORES_BUSY)
        )
        return (
            f"{summary.name} holds {rate} posts/s: {deliveries} deliveries/s, 99 % of its posts "
            f"answered within {p99} ms and in every timeline within {lag} ms, with {cores} cores "
            "busy."
        )

    def beside(self, compared: Sequence[Summary]) -> str:
        """Return the fan-out tax."""
        floors = [summary for summary in compared if summary.variant.strategy == FLOOR]
        return " ".join(filter(None, (_tax(floor, compared) for floor in floors)))

    def rank(self, summary: Summary) -> tuple[float, ...]:
        return (-(summary.median(HELD.figure) or 0.0),)

    def remarks(self, summary: Summary) -> Sequence[str]:
        return remarks_on(summary)


def remarks_on(summary: Summary) -> list[str]:
    """Return a remark on each search that a summary is of."""
    return [
        f"{summary.name}: {'; '.join(_in_words(found, steps))}."
        for found, steps in zip(summary.results, by_search(tried(summary)), strict=True)
    ]


def _in_words(found: Result, steps: Sequence[Result]) -> Iterator[str]:
    """Yield what held, what broke next, and which cores were busy."""
    broke = [it for it in steps if not held(it) and rate_of(it) > rate_of(found)]
    nearest = min(broke, key=rate_of, default=None) if held(found) else found
    yield f"{rate_of(found):,g}/s held" if held(found) else "no rate holds"
    if nearest is None:
        yield "nothing higher was tried"
    else:
        yield f"{rate_of(nearest):,g}/s broke ({', '.join(_why(nearest))})"
    if found.cpu_s:
        yield f"at {rate_of(found):,g}/s {_cores(found)}"
    saturated = [it for it in (found, nearest) if it and it.generator_saturated]
    if saturated:
        yield "Locust itself was at its limit at " + " and ".join(
            f"{rate:,g}/s" for rate in dict.fromkeys(map(rate_of, saturated))
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
    """Return the rates that hold as shares of the rate that ``floor`` holds."""
    held = floor.median(HELD.figure)
    shares = [
        f"{summary.name} holds {(summary.median(HELD.figure) or 0.0) / held:.2f}"
        for summary in compared
        if held and summary.variant.delivers and summary.variant.database == floor.variant.database
    ]
    return f"Of what {floor.name} holds, {', '.join(shares)}." if shares else ""

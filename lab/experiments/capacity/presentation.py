"""Columns, ranking and pictures of capacity."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import methodcaller

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from lab.experiments.fanout.presentation import (
    AUDIT,
    DELIVERIES,
    LAG_ENDS,
    LAG_P99,
    LESSON,
    POSTS,
    PULL_IS_NOT_RANKED,
)
from lab.experiments.search import (
    ANSWERED,
    FAILING,
    by_search,
    held_rate,
    remarks_on,
    summary_of,
)
from lab.reporting.formats import number
from lab.reporting.plots import Drawing, Line, Panel, colours_of, curves
from lab.reporting.presentation import (
    CORES_BUSY,
    CPU,
    LATENCY,
    P99,
    Column,
    Plot,
    Presentation,
    by_load_and_variant,
)
from lab.results.result import Result
from lab.results.summary import Summary
from launch.variants import Variant

FLOOR = "null"
"""The strategy that delivers nothing: the cost of everything but the fan-out."""
ROLES = ("web", "workers", "database", "redis", "broker", "locust")
HELD = Column("held /s", held_rate, spread=True, brief=True)


def search(compared: Sequence[Summary]) -> Drawing:
    """The rates that were tried, in turn: a dot where one held, a cross where it broke."""
    lines = []
    for summary in compared:
        colour = colours_of(compared)[summary.variant.name]
        for at, steps in enumerate(by_search(summary.tried)):
            points = [(turn, step.offered_rps) for turn, step in enumerate(steps, start=1)]
            lines.append(Line("" if at else summary.name, points, colour, summary.name))
            for point, step in zip(points, steps, strict=True):
                lines.append(Line("", [point], colour, form="o" if step.held else "x"))
    return curves(Panel(lines, "step of the search", "posts/s offered", over=_count_steps))


def _count_steps(axes: Axes) -> None:
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def _summaries(results: Sequence[Result], variant_named: Callable[[str], Variant]) -> list[Summary]:
    """Return a summary per variant, of the highest rate that held in each of its searches."""
    of_all_loads = [replace(result, load="") for result in results]
    return [
        summary_of(summary.variant, summary.results)
        for summary in by_load_and_variant(of_all_loads, variant_named)
    ]


def _praise(best: Summary) -> str:
    rate, deliveries, p99, lag, cores = (
        number(best.median(column.figure))
        for column in (HELD, DELIVERIES, P99, LAG_P99, CORES_BUSY)
    )
    return (
        f"{best.name} holds {rate} posts/s: {deliveries} deliveries/s, 99 % of its posts "
        f"answered within {p99} ms and in every timeline within {lag} ms, with {cores} cores busy."
    )


def _fan_out_tax(compared: Sequence[Summary]) -> str:
    """Return the rates that hold as shares of the rate that FLOOR holds on the same database."""
    found = []
    for floor in (summary for summary in compared if summary.variant.strategy == FLOOR):
        held, database = floor.median(held_rate), floor.variant.database
        shares = [
            f"{summary.name} holds {(summary.median(held_rate) or 0.0) / held:.2f}"
            for summary in compared
            if held and summary.variant.delivers and summary.variant.database == database
        ]
        found += [f"Of what {floor.name} holds, {', '.join(shares)}."] if shares else []
    return " ".join(found)


PRESENTATION = Presentation(
    columns=(
        HELD,
        POSTS._replace(brief=False),
        DELIVERIES,
        P99._replace(brief=True),
        LAG_P99,
        *(Column(f"{role} cores", methodcaller("cores", role)) for role in ROLES),
        CORES_BUSY._replace(brief=True),
    ),
    headline=HELD,
    heading="Highest rate that held, posts per second",
    findings=AUDIT,
    more_is_better=True,
    tie_break="lag, then cores",
    contrast="That is {ratio} times what {name} holds.",
    condition="that delivers finished with a clean audit, within the limits",
    measures_generator=True,
    pictures=(
        Plot(
            "The search",
            "The rates that were tried, in turn: dots held, crosses broke.",
            search,
        ),
        CPU._replace(text="Cores busy at the highest rate that held."),
        LATENCY,
    ),
    limitations=(
        f"A rate holds if at least {ANSWERED:.0%} of it is answered, at most {FAILING:.1%} fails, "
        "p99 and the lag's p99 keep the limits of the command, and the audit is as it should be.",
        "The load generator needs cores of the same machine, and is part of what holds.",
        "Rates a few percent apart are a tie: the bisection ends there, and a second "
        "search of the same variant may end elsewhere (--repeat).",
        LAG_ENDS,
        PULL_IS_NOT_RANKED,
    ),
    lesson=LESSON,
    summaries=_summaries,
    praise=_praise,
    beside=_fan_out_tax,
    remarks=remarks_on,
)

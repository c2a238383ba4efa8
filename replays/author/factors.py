"""Factors: which of the settings that were changed together made most published requests fail."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean
from typing import ClassVar

from lab.experiments.base import Measured
from lab.experiments.fanout import Fanout
from lab.experiments.fanout.presentation import FanoutPresentation
from lab.reporting.formats import percent
from lab.reporting.presentation import CORES_BUSY, MEAN, P95, SUCCESS, Column, Published
from lab.results.requests import Requests
from lab.results.summary import Summary
from lab.running.load import Load
from lab.running.options import RunOptions
from launch.service import Seed
from launch.variants import Variant
from replays.author.effects import Effect, effects
from replays.author.variants import AUTHOR, CROSSED, DEFAULT, OURS, TUNED, Crossing, named

USERS, RUN_TIME_S = 200, 10
"""Of the author's script at that commit, for half its time; all users begin at once."""
REFUSED = Column("refused", lambda r: r.extra.get("refused"), percent, brief=True)
PATIENCE_S = 65
"""Beyond the minute after which a client gives up, Locust's as k6's."""


class FactorsPresentation(FanoutPresentation):
    published = tuple(
        Published(
            f"{what} ({levels})",
            {"success": success, "good posts/s": good, "all requests/s": everything, **more},
        )
        for what, levels, success, good, everything, more in (
            ("MySQL, default", DEFAULT, 0.1548, 16.2, 104.7, {"kB of a failure": 308.0}),
            ("MySQL, tuned", TUNED, 0.9903, 11.3, 11.44, {}),
        )
    )
    columns = (
        SUCCESS,
        Column("good posts/s", lambda r: r.extra.get("good_per_s"), spread=True, brief=True),
        Column("all requests/s", lambda r: r.extra.get("all_per_s"), brief=True),
        Column("kB of a failure", lambda r: r.extra.get("failure_kb"), brief=True),
        REFUSED,
        Column("no answer", lambda r: r.extra.get("no_answer"), percent),
        MEAN,
        P95,
        CORES_BUSY,
    )
    headline = SUCCESS
    axis = "share of the requests that were answered with 201"
    contrast = "{name} succeeds {ratio} times as often"
    limitations = (
        "Refused is what was answered with an error within a minute, after which a client gives up "
        "as k6's does. The published failures are of that kind: 5.1 GB came back for 16,575.",
        "What began within the window is waited for, so that slow answers count as quick ones do; "
        "rates are until the last of those was answered.",
        "An effect is the mean difference between runs of one repeat that differ in one factor "
        "only; with all levels crossed, the difference of the means over all others' levels.",
        "The author's service answers 201 also where writing the feeds failed: the audit's missing "
        "entries are those. What was published was never audited.",
    )

    def praise(self, summary: Summary) -> str:
        return f"{summary.name} answered {percent(summary.median(SUCCESS.figure))} with 201."

    def verdict(self, compared: Sequence[Summary]) -> str:
        found = effects_on(SUCCESS, compared)
        if not found:
            return "No two runs differ in one factor only, so no effect can be measured."
        return " ".join(
            ["Effects on the share of requests that succeed, the largest first:", *map(str, found)]
        )

    def conclusions(self, compared: Sequence[Summary]) -> Sequence[str]:
        found = [*effects_on(SUCCESS, compared), *effects_on(REFUSED, compared)]
        return [str(effect) for effect in found]


class Factors(Fanout):
    """The author's code on a server with each setting as it came, and as it was changed."""

    name = "factors"
    presentation = FactorsPresentation()
    variants: ClassVar[tuple[str, ...]] = tuple(f"{AUTHOR}_{it}" for it in CROSSED)
    seed = Seed(people=501, graph="star")

    def variant(self, name: str) -> Variant:
        return named(name)

    def loads(self, options: RunOptions) -> list[Load]:
        (load,) = super().loads(options)
        return [
            replace(
                load,
                users=options.users or USERS,
                run_time_s=options.run_time_s or RUN_TIME_S,
                arrivals=options.arrivals or "checked",
                warm_up_s=0,  # all begin at once; with time to answer for each
                patience_s=PATIENCE_S,
            )
        ]

    def conclude(self, measured: Measured) -> None:
        measured.result.extra = _figures(measured.requests)
        super().conclude(measured)


class FactorsOfOurs(Factors):
    """The same for our own service, writing row by row."""

    name = "factors-ours"
    variants = tuple(f"{OURS}_{it}" for it in CROSSED)


def effects_on(column: Column, compared: Sequence[Summary]) -> list[Effect]:
    return [
        effect
        for whose in (AUTHOR, OURS)
        for effect in effects(list(_runs(whose, column, compared)), f"{column.label} ({whose})")
    ]


def _runs(
    whose: str, column: Column, compared: Sequence[Summary]
) -> Iterator[tuple[int, Crossing, float]]:
    """Yield the finished runs of somebody's code whose variants say their factors."""
    for summary in compared:
        name, _, rest = summary.variant.name.partition("_")
        factors = Crossing.parse(rest) if name == whose else None
        for result in summary.results if factors else ():
            share = column.figure(result)
            if factors and share is not None and result.audit is not None:
                yield result.repeat, factors, share


def _figures(requests: Requests) -> dict[str, float | None]:
    start, end = requests.window
    begun = [it for it in requests.counted if start <= it.begun_at < end]
    failed = [it for it in begun if it.error]
    seconds = max([end, *(it.ended_at for it in begun if it.answered)]) - start
    sizes = [it.length / 1000 for it in failed if it.length]
    return {
        "good_per_s": round((len(begun) - len(failed)) / seconds, 2),
        "all_per_s": round(len(begun) / seconds, 2),
        "failure_kb": round(fmean(sizes), 1) if sizes else None,
        "refused": len(sizes) / len(begun),
        "no_answer": (len(failed) - len(sizes)) / len(begun),
    }

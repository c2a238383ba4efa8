"""Factors: which of the settings that were changed together made most published requests fail."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean

from lab.experiments import fanout
from lab.experiments.base import Measured, RunOptions
from lab.reporting.formats import percent
from lab.reporting.presentation import CORES_BUSY, MEAN, P95, SUCCESS, Column, Published, extra
from lab.results.requests import Requests
from lab.results.summary import Summary
from lab.running.load import Load
from launch.service import Seed
from replays.author.effects import Effect, effects
from replays.author.variants import AUTHOR, CROSSED, DEFAULT, OURS, TUNED, Crossing, named

USERS, RUN_TIME_S = 200, 10
"""Of the author's script at that commit, for half its time; all users begin at once."""
REFUSED = Column("refused", extra("refused"), percent, brief=True)
PATIENCE_S = 65
"""Beyond the minute after which a client gives up, Locust's as k6's."""


PUBLISHED = tuple(
    Published(
        f"{what} ({levels})",
        {"success": success, "good posts/s": good, "all requests/s": everything, **more},
    )
    for what, levels, success, good, everything, more in (
        ("MySQL, default", DEFAULT, 0.1548, 16.2, 104.7, {"kB of a failure": 308.0}),
        ("MySQL, tuned", TUNED, 0.9903, 11.3, 11.44, {}),
    )
)


def loads(options: RunOptions) -> list[Load]:
    return [
        replace(
            fanout.load(options),
            users=options.users or USERS,
            run_time_s=options.run_time_s or RUN_TIME_S,
            arrivals=options.arrivals or "checked",
            warm_up_s=0,  # all begin at once; with time to answer for each
            patience_s=PATIENCE_S,
        )
    ]


def conclude(measured: Measured) -> None:
    measured.result.extra = _figures(measured.requests)
    fanout.conclude(measured)


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
    begun = [request for request in requests.counted if start <= request.begun_at < end]
    failed = [request for request in begun if request.error]
    seconds = max([end, *(request.ended_at for request in begun if request.answered)]) - start
    sizes = [request.length / 1000 for request in failed if request.length]
    return {
        "good_per_s": round((len(begun) - len(failed)) / seconds, 2),
        "all_per_s": round(len(begun) / seconds, 2),
        "failure_kb": round(fmean(sizes), 1) if sizes else None,
        "refused": len(sizes) / len(begun),
        "no_answer": (len(failed) - len(sizes)) / len(begun),
    }


def _verdict(compared: Sequence[Summary]) -> str:
    found = effects_on(SUCCESS, compared)
    if not found:
        return "No two runs differ in one factor only, so no effect can be measured."
    return " ".join(
        ["Effects on the share of requests that succeed, the largest first:", *map(str, found)]
    )


def _conclusions(compared: Sequence[Summary]) -> Sequence[str]:
    found = [*effects_on(SUCCESS, compared), *effects_on(REFUSED, compared)]
    return [str(effect) for effect in found]


PRESENTATION = replace(
    fanout.EXPERIMENT.presentation,
    published=PUBLISHED,
    columns=(
        SUCCESS,
        Column("good posts/s", extra("good_per_s"), spread=True, brief=True),
        Column("all requests/s", extra("all_per_s"), brief=True),
        Column("kB of a failure", extra("failure_kb"), brief=True),
        REFUSED,
        Column("no answer", extra("no_answer"), percent),
        MEAN,
        P95,
        CORES_BUSY,
    ),
    headline=SUCCESS,
    heading="Share of the requests that were answered with 201",
    limitations=(
        "Refused is what was answered with an error within a minute, after which a client gives up "
        "as k6's does. The published failures are of that kind: 5.1 GB came back for 16,575.",
        "What began within the window is waited for, so that slow answers count as quick ones do; "
        "rates are until the last of those was answered.",
        "An effect is the mean difference between runs of one repeat that differ in one factor "
        "only; with all levels crossed, the difference of the means over all others' levels.",
        "The author's service answers 201 also where writing the feeds failed: the audit's missing "
        "entries are those. What was published was never audited.",
    ),
    verdict=_verdict,
    conclusions=_conclusions,
)
FACTORS = replace(  # the author's code on a server with each setting as it came, and as changed
    fanout.EXPERIMENT,
    name="factors",
    variants=tuple(f"{AUTHOR}_{crossing}" for crossing in CROSSED),
    variant=named,
    seed=Seed(people=501, graph="star"),
    loads=loads,
    conclude=conclude,
    presentation=PRESENTATION,
    options={},
)
FACTORS_OF_OURS = replace(  # the same for our own service, writing row by row
    FACTORS, name="factors-ours", variants=tuple(f"{OURS}_{crossing}" for crossing in CROSSED)
)

"""Activity as it was published: their tables, one endpoint at a time, all within one second."""

from dataclasses import replace

from lab.experiments.base import Measured, RunOptions
from lab.reporting.formats import number, percent
from lab.reporting.presentation import CORES_BUSY, OFFERED, SUCCESS, Column, Published
from lab.results import figures
from lab.results.summary import Summary
from lab.running.load import COOL_DOWN_S, Load
from launch.variants import Variant
from replays.activity import experiment as activity
from replays.activity.experiment import AUDIT_IS_SHORT, TIMEOUT_S

PAGES = ("times", "visits", "summary")
RATES = (1, 20, 50)
VOLLEY_AFTER_S = 2
STEPS = {
    "as_found": "mysql_tuned-tags_as_found",
    "fix_1": "mysql_tuned-tags_fewer_queries",
    "fix_1_and_2": "mysql_tuned-tags_indexed",
}
OURS = "mysql_tuned-best"
TIMED_OUT = 30_001

ALL_MEAN = Column("mean of all ms", lambda r: r.extra.get("all_mean_ms"), spread=True, brief=True)
ALL_P95 = Column("p95 of all ms", lambda r: r.extra.get("all_p95_ms"), brief=True)
PUBLISHED_MS: dict[str, dict[str, tuple[tuple[float, float], ...]]] = {
    "as_found": {
        "times": ((6_234, 6_234), (TIMED_OUT, 30_002), (TIMED_OUT, 30_001)),
        "visits": ((11_589, 11_589), (20_004, 22_735), (TIMED_OUT, 30_001)),
        "summary": ((7_940, 7_940), (10_008, 13_748), (TIMED_OUT, 30_001)),
    },
    "fix_1": {
        "times": ((4_352, 4_352), (28_506, 30_001), (TIMED_OUT, 30_001)),
        "visits": ((1_722, 1_722), (6_379, 8_456), (16_994, 22_752)),
        "summary": ((2_113, 2_113), (7_149, 8_693), (13_177, 16_450)),
    },
    "fix_1_and_2": {
        "times": ((1_802, 1_802), (6_447, 8_430), (13_396, 17_916)),
        "visits": ((805.135, 805.135), (853.126, 1_280), (631.082, 975.806)),
        "summary": ((920.967, 920.967), (1_306, 1_548), (2_359, 2_604)),
    },
}
"""Mean and p95 at 1, 20 and 50 requests."""


def _published() -> tuple[Published, ...]:
    return tuple(
        Published(f"{step}, {page}-{rate}", {ALL_MEAN.label: mean, ALL_P95.label: p95})
        for page in PAGES
        for place, rate in enumerate(RATES)
        for step, pages in PUBLISHED_MS.items()
        for mean, p95 in pages[page][place : place + 1]
    )


def _praise(summary: Summary) -> str:
    success = percent(summary.median(SUCCESS.figure))
    return (
        f"{summary.name}, answered {success} of the requests, after "
        f"{number(summary.median(ALL_MEAN.figure))} ms on average."
    )


PRESENTATION = replace(
    activity.EXPERIMENT.presentation,
    published=_published(),
    columns=(OFFERED, SUCCESS, ALL_MEAN, ALL_P95, CORES_BUSY),
    headline=ALL_MEAN,
    heading="Mean ms, a time-out counted with what it waited",
    limitations=(
        f"A request that is not answered within {TIMEOUT_S} s has failed; the times are of failed "
        "requests too, as vegeta has them.",
        "Their table of tags as their DDL has it; of the tables of cards and of device pairs only "
        "what they are for is known. A person has one card here.",
        "How they counted the people inside isn't known; here it is the last tag of every card.",
        AUDIT_IS_SHORT,
    ),
    praise=_praise,
)


def variant(name: str) -> Variant:
    return replace(activity.variant(STEPS.get(name, name)), name=name)


def loads(options: RunOptions) -> list[Load]:
    rates = (options.users,) if options.users else RATES
    return [_volley(page, rate) for page in PAGES for rate in rates]


def _volley(page: str, rate: int) -> Load:
    return Load(
        rate,
        1,
        activity.LOCUSTFILE,
        name=f"{page}-{rate}",
        arrivals="open",
        counted=(f"GET /v1/activity/{page}/",),
        warm_up_s=0,
        cool_down_s=VOLLEY_AFTER_S + COOL_DOWN_S,
        patience_s=TIMEOUT_S + 1,
        options={"once": page, "spawn-rate": rate},
    )


def conclude(measured: Measured) -> None:
    activity.conclude(measured)
    waited_ms = [request.ms for request in measured.requests.counted]
    found = figures.percentiles(waited_ms, ("mean", "p95"))
    measured.result.extra = {f"all_{name}_ms": value for name, value in found.items()}


EXPERIMENT = replace(
    activity.EXPERIMENT,
    name="published-002",
    document="[24HANE] Improving the latency of the service (42 Seoul), author not named",
    variants=(*STEPS, OURS),
    variant=variant,
    loads=loads,
    conclude=conclude,
    presentation=PRESENTATION,
    around_s=110,
)

"""Columns, ranking and published figures of activity."""

from lab.reporting.formats import percent
from lab.reporting.presentation import (
    CORES_BUSY,
    OFFERED,
    P95,
    SUCCESS,
    Column,
    Presentation,
    Published,
)
from lab.results.result import Figure
from lab.results.summary import Summary

TIMEOUT_S = 30
AUDIT_WITHIN_S = 20
"""Seconds for the audit: queries that scan the table would need minutes for all answers."""


def mean_ms(page: str) -> Figure:
    """Return the figure of one endpoint; None if none of its requests succeeded."""
    route = f"GET /v1/activity/{page}/"
    return lambda result: result.routes.get(route, {}).get("latency_ms", {}).get("mean")


def _known(rate: float, *figures: float | None) -> dict[str, float]:
    labels = ("success", "times ms", "visits ms", "summary ms")
    known = dict(zip(labels, figures, strict=True))
    return {"offered /s": rate} | {k: v for k, v in known.items() if v is not None}


TIMES = Column("times ms", mean_ms("times"), spread=True, brief=True)
VISITS = Column("visits ms", mean_ms("visits"), brief=True)
SUMMARY = Column("summary ms", mean_ms("summary"), brief=True)


PUBLISHED = tuple(
    Published(f"{what}, {rate} within 1 s, each page alone", _known(rate, *figures))
    for rate, what, *figures in (
        (1, "as found", None, 6_234, 11_589, 7_940),
        (1, "fix 1", None, 4_352, 1_722, 2_113),
        (1, "fix 1 and 2", None, 1_802, 805.135, 920.967),
        (20, "as found", None, None, 20_004, 10_008),
        (20, "fix 1", None, 28_506, 6_379, 7_149),
        (20, "fix 1 and 2", None, 6_447, 853.126, 1_306),
        (50, "as found", 0.0, None, None, None),
        (50, "fix 1", None, None, 16_994, 13_177),
        (50, "fix 1 and 2", None, 13_396, 631.082, 2_359),
    )
)
AUDIT_IS_SHORT = (
    f"The audit asks for {AUDIT_WITHIN_S} s: of a variant that scans the table it compares few "
    "answers."
)


def _praise(summary: Summary) -> str:
    success = summary.median(SUCCESS.figure)
    times, visits, totals = (c.write(summary.median(c.figure)) for c in (TIMES, VISITS, SUMMARY))
    return (
        f"{summary.name}, answered {percent(success)} of the requests: the accumulated times "
        f"after {times} ms, a day's visits after {visits} ms, the summary after {totals} ms."
    )


PRESENTATION = Presentation(
    columns=(OFFERED, SUCCESS, TIMES, VISITS, SUMMARY, P95, CORES_BUSY),
    headline=TIMES,
    axis="mean of the accumulated times, ms",
    findings=("wrong_answers",),
    limitations=(
        f"A request that isn't answered within {TIMEOUT_S} s has failed and is in no latency; a "
        "dash says that all of them did. Published means are of those that timed out too.",
        AUDIT_IS_SHORT,
    ),
    lesson="replays/activity/lesson.md",
    published=PUBLISHED,
    praise=_praise,
)

"""Columns, ranking and published figures of export."""

from lab.reporting.formats import percent
from lab.reporting.presentation import (
    CORES_BUSY,
    MEAN,
    Column,
    Presentation,
    Published,
    extra,
)
from lab.results.summary import Summary

ORDINARY_MEAN = Column("ordinary mean ms", extra("ordinary_mean_ms"), brief=True)


PUBLISHED = tuple(
    Published(
        what,
        {
            "expensive mean ms": expensive,
            "ordinary mean ms": ordinary,
            "mean ms": all_of_them,
            "expensive errors": errors[0],
            "ordinary errors": errors[1],
            "errors": errors[2],
        },
    )
    for what, expensive, ordinary, all_of_them, errors in (
        ("one pool of 20", 79_365, 13_900, 46_391, (0.0334, 0.0684, 0.0509)),
        ("two pools of 10", 101_134, 102, 51_606, (0, 0, 0)),
    )
)
A_LOG_IN_COSTS_ITS_HASH = (
    "A log-in costs what its password hash does; the experiment signup measures that."
)


def _praise(summary: Summary) -> str:
    ordinary = summary.median(ORDINARY_MEAN.figure) or 0.0
    expensive = summary.median(extra("expensive_mean_ms")) or 0.0
    return (
        f"{summary.name} answered ordinary requests in {ordinary:,.0f} ms on average, while "
        f"expensive ones took {expensive / 1000:,.1f} s."
    )


PRESENTATION = Presentation(
    columns=(
        ORDINARY_MEAN,
        Column("expensive mean ms", extra("expensive_mean_ms"), brief=True),
        MEAN,
        Column("ordinary errors", extra("ordinary_errors"), percent, brief=True),
        Column("expensive errors", extra("expensive_errors"), percent),
        Column("errors", lambda r: None if r.success is None else 1 - r.success, percent),
        Column("exports", lambda r: (r.audit or {}).get("exports")),
        CORES_BUSY,
    ),
    headline=ORDINARY_MEAN,
    axis="mean of the ordinary requests, ms",
    findings=("incomplete", "different", "broken_promises"),
    limitations=(
        "Every user asks ten times, as published, but within the run time of a minute by default.",
        A_LOG_IN_COSTS_ITS_HASH,
    ),
    lesson="replays/export/lesson.md",
    published=PUBLISHED,
    praise=_praise,
)

"""Columns, ranking and published figures of browse."""

from lab.reporting.presentation import (
    CORES_BUSY,
    MEAN,
    OFFERED,
    P95,
    P99,
    SUCCESS,
    Column,
    Presentation,
    Published,
    extra,
)
from lab.results.summary import Summary


def published_figures(p95: str, success: str) -> tuple[Published, ...]:
    """Return what was published, by these labels: k6's figures of a whole run with its ramps.

    The p95 is of failed requests too.
    """
    return tuple(
        Published(f"{shape}, balancer and {what}", {p95: ms, success: share})
        for shape, figures in (
            ("smoke", ((173, 1), (252, 1), (176, 1))),
            ("load", ((1_860, 1), (2_610, 1), (180.73, 1))),
            ("stress", ((17_240, 0.42), (29_000, 1), (4_880, 1))),
        )
        for what, (ms, share) in zip(
            ("1 server", "5 servers", "5 servers, 4 replicas"), figures, strict=True
        )
    )


ONE_MACHINE = (
    "Five app servers, a primary and its replicas share this machine's cores and its disk: "
    "what replicas add elsewhere, other machines, they can't add here."
)


def _praise(summary: Summary) -> str:
    rate = summary.median(lambda r: r.achieved_rps) or 0.0
    offered = summary.median(lambda r: r.offered_rps) or 0.0
    p95 = summary.median(P95.figure) or 0.0
    return (
        f"{summary.name} answered {rate:,.0f} of the {offered:,.0f} requests/s offered, "
        f"95 % of them within {p95:,.0f} ms."
    )


def _ranks_first(summary: Summary) -> tuple[float, ...]:
    """A variant that fails requests isn't quick."""
    return (-round(summary.median(SUCCESS.figure) or 0.0, 2),)


PRESENTATION = Presentation(
    columns=(
        OFFERED,
        Column("requests/s", lambda r: r.achieved_rps, brief=True),
        SUCCESS,
        MEAN._replace(brief=False),
        P95._replace(brief=True),
        P99,
        Column("replica lag p50 ms", extra("replica_lag_p50_ms")),
        Column("replica lag max ms", extra("replica_lag_max_ms"), brief=True),
        CORES_BUSY,
    ),
    headline=P95,
    axis="p95 of a request, ms",
    findings=("own_write_missed", "stale", "miscounted"),
    limitations=(ONE_MACHINE,),
    lesson="replays/browse/lesson.md",
    published=published_figures("p95 ms", "success"),
    praise=_praise,
    ranks_first=_ranks_first,
)

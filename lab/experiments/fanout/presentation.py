"""Columns, ranking and published figures of fan-out."""

from collections.abc import Sequence
from math import inf, log

from lab.reporting import plots
from lab.reporting.formats import number, percent
from lab.reporting.presentation import (
    BY_SECOND,
    CORES_BUSY,
    CPU,
    IN_FLIGHT,
    LATENCY,
    MEAN,
    OFFERED,
    P95,
    P99,
    SUCCESS,
    Column,
    Plot,
    Presentation,
    Published,
    extra,
    unshown,
    waiting,
)
from lab.results.result import Result
from lab.results.summary import Summary
from lab.running.screens import GRACE_S, LOOK_EVERY_S, READERS

SAME_RATE = 1.02
"""Rates within this factor are equal: the time to screen decides between them."""
PUBLISHED_FRIENDS = 500
SAME_TIME = 1.25
"""Times within this factor are equal: busy cores decide between them."""
DELIVERIES = Column("deliveries/s", lambda r: r.deliveries_per_s)
LAG_P50 = Column("lag p50 ms", lambda r: r.lag_ms.get("p50"), bound=waiting(0.5))
LAG_P99 = Column(
    "lag p99 ms", lambda r: r.lag_ms.get("p99"), spread=True, brief=True, bound=waiting(0.01)
)
SCREEN_P50 = Column("screen p50 ms", lambda r: r.screen_ms.get("p50"), bound=unshown(0.5))
SCREEN_P99 = Column(
    "screen p99 ms", lambda r: r.screen_ms.get("p99"), spread=True, bound=unshown(0.01)
)
SHOWN = Column("shown", lambda r: r.shown, percent)
UNDELIVERED = Column("undelivered posts", lambda r: r.undelivered, brief=True)
FAN_OUT, LAG_TO = "deliveries_", "lag_p99_to_"
"""Names of extra figures: deliveries per post, and the lag of posts with at most so many."""
AUDIT = ("missing", "duplicated", "unexpected", "lacked")
POSTS = Column("posts/s", lambda r: r.achieved_rps, spread=True, brief=True)
LESSON = "lab/experiments/fanout/lesson.md"
LAG_ENDS = "Lag ends at the receipt, which is written just before its transaction commits."
SCREENS = (
    f"Time to screen is of {READERS} people who are watched through the API: from sending a post "
    f"to the first of their pages that shows it. They look every {LOOK_EVERY_S * 1000:g} ms; what "
    "was never shown counts as waiting until the end. Lacked: a page that was asked for more than "
    f"{GRACE_S:g} s after a post's receipt did not show it."
)
PULL_IS_NOT_RANKED = (
    "pull writes nothing, and this load has no readers, who pay for it: it isn't ranked (see "
    "lab run mixed)."
)
PUBLISHED = tuple(
    Published(
        what,
        {
            "posts/s": round(requests_per_s * success, 2),
            "success": success,
            "mean ms": mean,
            "p95 ms": p95,
        },
    )
    for what, requests_per_s, success, mean, p95 in (
        ("SQLite per app server", 0.646009, 0.9919, 14_980, 29_450),
        ("MySQL, default", 104.708861, 0.1548, 4_670, 14_950),
        ("MySQL, tuned", 11.442402, 0.9903, 40_920, 58_120),
        ("Celery into Redis", 308.319286, 0.9996, 1_600, 4_780),
    )
)
"""k6's http_reqs, which count failures, times its checks; its times are of an iteration, that is
the answer and the pause after it."""


def _is_published_load(result: Result) -> bool:
    """Return whether the posts went to as many friends as the published ones."""
    seed: dict[str, int] = result.environment.get("seed", {})
    return seed.get("friends", PUBLISHED_FRIENDS) == PUBLISHED_FRIENDS


def _cost(result: Result) -> float | None:
    return result.cpu_s_per_million_deliveries


def praise(summary: Summary) -> str:
    offered, rate, lag_ms = (
        number(summary.median(column.figure)) for column in (OFFERED, POSTS, LAG_P99)
    )
    reached = f", and 99 % of them were in every friend's timeline within {lag_ms} ms"
    return (
        f"{summary.name} took {rate} of the {offered} posts per second that were offered"
        f"{'' if lag_ms == '-' else reached}."
    )


def _remarks(summary: Summary) -> Sequence[str]:
    figures = {name: summary.median(extra(name)) for name in summary.results[0].extra}
    mean, p99, most = (figures.get(f"{FAN_OUT}{name}") for name in ("mean", "p99", "max"))
    if mean is None:
        return ()
    lags = [
        f"{number(ms)} ms for posts with up to {int(name.removeprefix(LAG_TO)):,}"
        for name, ms in figures.items()
        if name.startswith(LAG_TO)
    ]
    return (
        f"{summary.name}: a post has {number(mean)} deliveries in the mean, {number(p99)} at "
        f"p99 and {number(most)} at most. Lag p99: {', '.join(lags)}.",
    )


def _ranks_first(summary: Summary) -> tuple[float, ...]:
    offered = summary.median(lambda r: r.offered_rps) or 1.0
    share = (summary.median(lambda r: r.achieved_rps) or 0.0) / offered
    seen_ms = summary.median(SCREEN_P50.figure)
    late_ms = summary.median(LAG_P99.figure) if seen_ms is None else seen_ms
    return (
        -_level(min(max(share, 0.001), 1.0), SAME_RATE),
        inf if late_ms is None else _level(max(late_ms, 1.0), SAME_TIME),
        summary.median(lambda r: r.cores_busy) or 0.0,
    )


def _level(value: float, same: float) -> int:
    """Return the same number for values within a factor."""
    return round(log(value) / log(same))


PRESENTATION = Presentation(
    columns=(
        OFFERED,
        POSTS,
        SUCCESS,
        MEAN,
        P95,
        P99,
        IN_FLIGHT,
        DELIVERIES,
        LAG_P50,
        LAG_P99,
        UNDELIVERED,
        SCREEN_P50,
        SCREEN_P99,
        SHOWN,
        Column("drain s", lambda r: r.drain_s, brief=True),
        CORES_BUSY,
    ),
    headline=POSTS,
    heading="Posts per second",
    findings=AUDIT,
    more_is_better=True,
    tie_break="time to screen or lag, then cores",
    contrast="That is {ratio} times what {name} answered.",
    pictures=(
        LATENCY,
        BY_SECOND,
        Plot(
            "Backlog",
            "Posts without a receipt: a strategy that answers quickly may be delivering late.",
            plots.backlog,
            lambda r: r.backlog,
        ),
        CPU,
        Plot(
            "What a million deliveries cost",
            "CPU seconds of the whole service, requests included and Locust not.",
            lambda compared: plots.medians(compared, _cost),
            _cost,
        ),
    ),
    limitations=(LAG_ENDS, SCREENS, PULL_IS_NOT_RANKED),
    lesson=LESSON,
    published=PUBLISHED,
    published_note=(
        "posts/s are k6's http_reqs times its checks; times are of an iteration: the answer and, "
        "in the first three, a pause of one second after it."
    ),
    is_published_load=_is_published_load,
    praise=praise,
    remarks=_remarks,
    ranks_first=_ranks_first,
)

"""Fan-out: one post, 501 deliveries."""

import time
from contextlib import closing
from math import inf, log
from typing import ClassVar

from lab.author.variants import STEPS
from lab.experiments.base import Asked, Experiment, Measured
from lab.progress import stage
from lab.reporting import plots
from lab.reporting.presentation import (
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
)
from lab.results import figures
from lab.results.summary import Summary
from lab.running.load import Load, warm_up_s
from lab.running.resources import check_resources
from launch.variants import Variant

SAME = 0.02
"""Shares of the offered rate this close are equal: lag decides between them."""
SAME_LAG = 1.25
"""Lags within this factor are equal: busy cores decide between them."""
DELIVERIES = Column("deliveries/s", lambda r: r.deliveries_per_s)
LAG_P99 = Column("lag p99 ms", lambda r: r.lag_ms.get("p99"), spread=True, brief=True)
POSTS = Column("posts/s", lambda r: r.achieved_rps, spread=True, brief=True)


class FanoutPresentation(Presentation):
    published = tuple(
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
    """k6's http_reqs, which count failures, times its checks; its times are of an iteration, that
    is the answer and the pause after it."""
    columns: ClassVar[tuple[Column, ...]] = (
        OFFERED,
        POSTS,
        SUCCESS,
        MEAN,
        P95,
        P99,
        IN_FLIGHT,
        DELIVERIES,
        Column("lag p50 ms", lambda r: r.lag_ms.get("p50")),
        LAG_P99,
        Column("drain s", lambda r: r.drain_s, brief=True),
        CORES_BUSY,
    )
    headline = POSTS
    axis = "posts/s (success), lag p99 above a second"
    more_is_better = True
    tie_break = "lag, then cores"
    contrast = "That is {ratio} times what {name} answered."
    findings = ("missing", "duplicated", "unexpected")
    pictures: ClassVar[tuple[Plot, ...]] = (
        LATENCY,
        Plot(
            "Backlog",
            "Posts without a receipt: a strategy that answers quickly may be delivering late.",
            plots.backlog,
        ),
        CPU,
        Plot(
            "What a million deliveries cost",
            "CPU seconds of the whole service, requests included and Locust not.",
            plots.cost,
        ),
    )
    limitations: ClassVar[tuple[str, ...]] = (
        "Lag ends at the receipt, which is written just before its transaction commits.",
        "pull writes nothing: its readers, whom this load has not, pay for what it counts as "
        "delivered, so it isn't ranked.",
        "Published posts/s are k6's http_reqs times its checks; published times are of an "
        "iteration: the answer and, in the first three, a pause of one second after it.",
    )

    def praise(self, summary: Summary) -> str:
        offered = summary.median(lambda r: r.offered_rps) or 0.0
        rate = summary.median(lambda r: r.achieved_rps) or 0.0
        deliveries = summary.median(lambda r: r.deliveries_per_s) or 0.0
        lag = summary.median(lambda r: r.lag_ms.get("p99")) or 0.0
        return (
            f"{summary.name} answered {rate:,.0f} of the {offered:,.0f} posts/s offered, "
            f"made {deliveries:,.0f} deliveries/s and had 99 % of its posts in every timeline "
            f"within {lag:,.0f} ms."
        )

    def rank(self, summary: Summary) -> tuple[float, ...]:
        offered = summary.median(lambda r: r.offered_rps) or 1.0
        rate = summary.median(lambda r: r.achieved_rps) or 0.0
        lag_ms = summary.median(lambda r: r.lag_ms.get("p99"))
        return (
            -round(rate / offered / SAME),
            inf if lag_ms is None else round(log(max(lag_ms, 1.0)) / log(SAME_LAG)),
            summary.median(lambda r: r.cores_busy) or 0.0,
        )


class Fanout(Experiment):
    name = "fanout"
    presentation = FanoutPresentation()
    locustfile = "locustfiles/fanout.py"
    variants: ClassVar[tuple[str, ...]] = (
        "sqlite-inline-rowwise",
        "sqlite-inline-bulk",
        "sqlite-inline-setbased",
        "sqlite-outbox-setbased",
        "sqlite-outbox-packed",
        "sqlite-pull",
        "sqlite-null",
        "sqlite_per_server-inline-bulk",
        "mysql_default-inline-rowwise",
        "mysql_tuned-inline-rowwise",
        "mysql_tuned-inline-bulk",
        "mysql_tuned-inline-setbased",
        "mysql_tuned-outbox-setbased",
        "mysql_tuned-outbox-packed",
        "mysql_tuned-task-roundtrip",
        "mysql_tuned-chunked-pipeline",
        "mysql_tuned-task-pipeline",
        "mysql_tuned-outbox-pipeline",
        "mysql_tuned-outbox-script",
        "mysql_tuned-outbox-ring",
        "mysql_tuned-outbox_celery-ring",
        "mysql_tuned-pull",
        "mysql_tuned-null",
    )

    def variant(self, name: str) -> Variant:
        return STEPS.get(name) or Variant.named(name)

    def loads(self, asked: Asked) -> list[Load]:
        run_time_s = asked.run_time_s or 30
        return [
            Load(
                asked.users or 500,
                run_time_s,
                self.locustfile,
                arrivals=asked.arrivals or "closed",
                counted=("POST /v1/posts/",),
                warm_up_s=warm_up_s(run_time_s),
                options={
                    "graph": asked.graph or self.seed.graph,
                    "visible-share": 0,  # the receipts tell it without asking
                    "no-audit": "",
                },
                files=("accepted",),
            )
        ]

    def conclude(self, measured: Measured) -> None:
        service = measured.service
        service.stop_web()
        drained_at = _drain(measured) if service.variant.delivers else None
        service.stop_workers()
        _record_receipts(measured, drained_at)
        with stage("audit"):
            measured.result.audit = service.audit(measured.folder / "accepted.csv")


def _drain(measured: Measured) -> float | None:
    """Wait for as long as deliveries are being made; the published way takes many minutes.

    Return when nothing was left, in Unix time; None if that takes too long.
    """
    within_s = measured.drain_within_s
    give_up_at = time.monotonic() + within_s
    with stage("drain") as advance, closing(measured.service.drain()) as backlogs:
        for backlog in backlogs:
            check_resources(measured.service.folder)
            advance(f"drain: {backlog:,} posts left")
            if backlog and time.monotonic() > give_up_at:
                left = f"not drained within {within_s} s: {backlog:,} posts left"
                measured.result.errors.append(left)
                return None
    return time.time()


def _record_receipts(measured: Measured, drained_at: float | None) -> None:
    result, window = measured.result, measured.requests.window
    receipts = measured.service.receipts()
    if receipts is None:
        _record_drain(measured, drained_at)
        return
    result.lag_ms = figures.percentiles(
        figures.lag_ms(receipts, *window), ("p50", "p95", "p99", "max")
    )
    result.deliveries = figures.deliveries(receipts, *window)
    result.deliveries_per_s = round(result.deliveries / result.window_s, 1)
    result.backlog = figures.backlog(receipts, window[0])
    result.drain_s = figures.drain_s(receipts)
    if result.deliveries and result.service_s is not None:
        result.cpu_s_per_million_deliveries = round(result.service_s / result.deliveries * 1e6, 2)
    if result.balance:
        result.balance.accepted = sum(not it.error for it in measured.requests.answered)
        result.balance.delivered, result.balance.backlog_growth = figures.flow(receipts, *window)


def _record_drain(measured: Measured, drained_at: float | None) -> None:
    """Record what is known without receipts: when the queue was empty, if there is one."""
    result = measured.result
    result.deliveries = None
    accepted = [it.ended_at for it in measured.requests.counted if not it.error]
    if measured.service.variant.uses_celery and drained_at and accepted:
        result.drain_s = round(drained_at - max(accepted), 3)

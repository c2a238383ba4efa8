"""Fan-out: one post, 501 deliveries."""

import time
from collections.abc import Sequence
from contextlib import closing

from lab.experiments.base import Experiment, Measured, RunOptions
from lab.experiments.fanout.presentation import FAN_OUT, LAG_TO, PRESENTATION
from lab.progress import stage
from lab.results import figures
from lab.running.load import Load, warm_up_s
from lab.running.machine import check_resources
from lab.systems.conclusion import conclude as conclude_from_outside
from lab.systems.service import OutsideService
from lab.systems.variants import outside
from launch.service import Receipt
from launch.variants import Variant

SEEDED_BEFORE_S = 1.0
"""Posts of the seeding are at least so much older than the load."""


def variant(name: str) -> Variant:
    """Return the variant that a name spells, of ours or of another system."""
    return outside(name) or Variant.named(name)


def load(options: RunOptions) -> Load:
    """Return users who post; the receipts say when everybody can see it."""
    run_time_s = options.run_time_s or 30
    generators = int(options.own.get("generators", 1))
    return Load(
        options.users or 500,
        run_time_s,
        "locustfiles/fanout.py",
        arrivals=options.arrivals or "closed",
        counted=("POST /v1/posts/",),
        warm_up_s=warm_up_s(run_time_s),
        workers=generators if generators > 1 else 0,
        options={
            "graph": options.seed.graph,
            "visible-share": 0,  # the receipts tell it without asking
            "no-audit": "",
        },
        files=("accepted",),
    )


def conclude(measured: Measured) -> None:
    """Wait for the deliveries, stop the requests, and record receipts and audit."""
    service = measured.service
    if isinstance(service, OutsideService):
        conclude_from_outside(measured, service)
        return
    variant = service.variant
    drained_at = drain(measured) if variant.delivers_later else time.time()
    if measured.screens:
        measured.screens.finish()
    service.stop_web()
    if drained_at and variant.delivers:  # a request that was in flight may have left a post
        drain(measured)
    service.stop_workers()
    receipts = service.receipts()
    _record_receipts(measured, receipts, drained_at)
    accepted = measured.folder / "accepted.csv"
    with stage("audit"):
        audit = service.audit(accepted)
    if measured.screens and receipts is not None:
        window = measured.requests.window
        lacked = measured.screens.record(measured.result, accepted, receipts, window)
        audit |= {"lacked": lacked, "ok": audit["ok"] and not lacked}
    measured.result.audit = audit


def drain(measured: Measured) -> float | None:
    """Wait for as long as deliveries are being made; the published way takes many minutes.

    Return when nothing was left, in Unix time; None if that takes too long.
    """
    within_s = measured.options.drain_within_s
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


def _record_receipts(
    measured: Measured, written: Sequence[Receipt] | None, drained_at: float | None
) -> None:
    result, window = measured.result, measured.requests.window
    if written is None:
        _record_drain(measured, drained_at)
        return
    began_at = min(row.begun_at for row in measured.requests.rows) - SEEDED_BEFORE_S
    receipts = [receipt for receipt in written if receipt.created_at >= began_at]
    read_at, (start, end) = time.time(), window
    of_window = [receipt for receipt in receipts if start <= receipt.created_at < end]
    lags_ms = figures.lag_ms(of_window, read_at)
    result.lag_ms = figures.percentiles(lags_ms, ("p50", "p95", "p99", "max"))
    if of_window:
        result.waiting = sum(r.delivered_at is None for r in of_window) / len(of_window)
    result.undelivered = sum(receipt.delivered_at is None for receipt in receipts)
    result.due = sum(receipt.deliveries for receipt in written)
    result.extra |= _sizes(of_window, read_at)
    result.deliveries = figures.deliveries(receipts, *window)
    result.deliveries_per_s = round(result.deliveries / result.window_s, 1)
    result.backlog = figures.backlog(receipts, window[0])
    result.drain_s = figures.drain_s(receipts)
    if result.deliveries and result.service_s is not None:
        result.cpu_s_per_million_deliveries = round(result.service_s / result.deliveries * 1e6, 2)
    if result.balance:
        result.balance.accepted = len(measured.requests.succeeded)
        result.balance.delivered, result.balance.backlog_growth = figures.flow(receipts, *window)


def _sizes(receipts: Sequence[Receipt], read_at: float) -> dict[str, float | None]:
    """Return deliveries per post and the lag of posts of each size, unless all have one size."""
    sizes = figures.by_size(receipts)
    if len(sizes) < 2:
        return {}
    counts = figures.percentiles([r.deliveries for r in receipts], ("mean", "p99", "max"))
    lags = {
        f"{LAG_TO}{most}": figures.percentiles(figures.lag_ms(group, read_at), ("p99",))["p99"]
        for most, group in sizes.items()
    }
    return {f"{FAN_OUT}{name}": count for name, count in counts.items()} | lags


def _record_drain(measured: Measured, drained_at: float | None) -> None:
    """Record what is known without receipts: when the queue was empty, if there is one."""
    result = measured.result
    result.deliveries = None
    accepted = [row.ended_at for row in measured.requests.counted if not row.error]
    if measured.service.variant.uses_queue and drained_at and accepted:
        result.drain_s = round(drained_at - max(accepted), 3)


EXPERIMENT = Experiment(
    name="fanout",
    variants=(
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
        "mysql_tuned-outbox-ring",
        "mysql_tuned-outbox_celery-ring",
        "mysql_tuned-pull",
        "mysql_tuned-null",
    ),
    variant=variant,
    watches=True,
    loads=lambda options: [load(options)],
    conclude=conclude,
    presentation=PRESENTATION,
    options={"generators": "Locust processes that share the users (1, without a master)"},
)

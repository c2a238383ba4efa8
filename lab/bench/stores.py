"""The stores through the grid, and other systems' ways beside them."""

from typing import Any

from lab.bench.json_lines import Measurement, measurements, no_result
from lab.bench.record import Record, cell_row, row
from lab.bench.site import Site
from lab.bench.targets import Target
from lab.progress import Advance
from launch.service import WORKER

CHUNKED = {"FEED_STRATEGY": "chunked", "FEED_TIMELINE_STORE": "pipeline"}
GRID = ("people", "friends", "batch")


def bench_target(site: Site, target: Target, record: Record, advance: Advance) -> None:
    """Take one target through its cells. Raises RunFailed if its process exits without a result."""
    checks, bytes_per_entry = 0, None
    command = [*target.command, *site.grid.arguments(*GRID)]
    if target.kind == "store":
        command.append(f"--seconds={site.cell_s}")
    with site.serving(target) as env:
        for measurement in measurements(site.processes, command, env):
            checks += measurement.kind == "check"
            bytes_per_entry = measurement.figures.get("bytes_per_entry", bytes_per_entry)
            _record(target, measurement, bytes_per_entry, record)
            advance(f"{target.name}: {_where(measurement.figures)}")
    if checks < (len(site.grid.graphs) if target.kind == "store" else 1):
        raise no_result(site.processes)


def bench_chunked(site: Site, record: Record, advance: Advance) -> None:
    """Record one task per chunk of friends, end to end with a Celery worker."""
    target = Target("chunked", "mysql_tuned", uses_redis=True, kind="way")
    advance("a task per chunk of friends")
    command = ["bench_ways", "chunked", *site.grid.arguments(*GRID)]
    with site.serving(target, CHUNKED) as env:
        site.processes.start("workers", WORKER, env)
        try:
            found = list(measurements(site.processes, command, env))
        finally:
            site.processes.stop("workers")
    if not found:
        raise no_result(site.processes)
    (end,) = found
    end.figures["client_s"] += end.cpu_s["workers"]
    server_s = end.cpu_s["database"] + end.cpu_s["redis"]
    record.add_row(row("way", "chunked", end.figures, server_s))


def _record(
    target: Target, measurement: Measurement, bytes_per_entry: float | None, record: Record
) -> None:
    server_s = target.server_s(measurement.cpu_s)
    if measurement.kind == "cell":
        record.add_row(cell_row(target, measurement, bytes_per_entry))
    elif measurement.kind == "read":
        record.add_read(target, measurement.figures, server_s)
    elif measurement.kind == "check":
        record.add_check(target, measurement.figures)


def _where(figures: dict[str, Any]) -> str:
    return ", ".join(f"{figures[name]:,} {name}" for name in GRID if figures.get(name))

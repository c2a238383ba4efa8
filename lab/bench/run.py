"""A run of the bench, from options to output."""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lab.bench.floors import bench_mysql, bench_redis, bench_sqlite
from lab.bench.output import publish, show
from lab.bench.record import Record, cell_row, row
from lab.bench.requests import bench_requests
from lab.bench.site import Measurement, Site, measurements, no_result
from lab.bench.targets import Grid, Target, list_way
from lab.progress import Advance, console, stage
from lab.running.machine import check_resources, describe_machine
from launch.processes import Processes, RunFailed
from launch.service import WORKER

Work = Callable[[Advance], None]
CHUNKED = {"FEED_STRATEGY": "chunked", "FEED_TIMELINE_STORE": "pipeline"}


def bench(
    targets: Sequence[Target], grid: Grid, out: Path, *, seconds: float, as_json: bool
) -> bool:
    """Bench the targets; print the tables or the rows, and return whether all went well.

    What was measured is in ``out``, also that of a run that was cut short.
    """
    stores = ",".join(target.name for target in targets)
    cells = [*grid.arguments(*grid._fields), f"--seconds={seconds:g}"]
    options = " ".join([f"--stores={stores}", *cells])
    record = Record(out, describe_machine(f"python -m lab bench {options}"))
    try:
        _run(targets, grid, seconds, record)
    finally:
        publish(record, grid)
    if as_json:
        print(json.dumps(record.rows))
    else:
        show(record, grid)
    return not record.failures


def _run(targets: Sequence[Target], grid: Grid, seconds: float, record: Record) -> None:
    with (
        TemporaryDirectory(prefix="lab-") as scratch,
        Processes(record.out / "logs") as processes,
    ):
        site = Site(processes, Path(scratch), grid, seconds)
        record.environment["servers"] = site.versions
        databases = list(dict.fromkeys(target.people_in for target in targets))
        if _attempt("databases", partial(site.prepare, databases), record):
            for name, work in _works(targets, site, record):
                _attempt(name, work, record)


def _works(targets: Sequence[Target], site: Site, record: Record) -> Iterator[tuple[str, Work]]:
    """Yield what is to be measured; ways and floors are of the servers that the stores need."""
    redis = any(target.uses_redis for target in targets)
    sqlite = any(target.database == "sqlite" for target in targets)
    ways = [list_way(site.grid.base)] if redis else []
    for target in (*targets, *ways):
        yield target.name, partial(bench_target, site, target, record)
    for name, work, is_possible in (
        ("chunked", bench_chunked, redis and site.mysql),
        ("requests", bench_requests, any(target.store == "ring" for target in targets)),
        ("Redis floors", bench_redis, redis),
        ("MySQL's floor", bench_mysql, site.mysql),
        ("SQLite's floor", bench_sqlite, sqlite),
    ):
        if is_possible:
            yield name, partial(work, site, record)


def _attempt(name: str, work: Work, record: Record) -> bool:
    """Do a part of the run; record its failure, and go on."""
    try:
        with stage(name) as advance:
            check_resources(record.out)
            work(advance)
    except RunFailed as error:
        console.print(f"  [red]failed:[/red] {name}: {error}")
        record.fail(name, error)
        return False
    return True


def bench_target(site: Site, target: Target, record: Record, advance: Advance) -> None:
    """Take one target through its cells. Raises RunFailed if its process exits without a result."""
    checks, bytes_per_entry = 0, None
    command = [*target.command, *site.grid.arguments(*Grid._fields)]
    if target.kind == "store":
        command.append(f"--seconds={site.cell_s}")
    with site.serving(target) as env:
        for measurement in measurements(site.processes, command, env):
            checks += measurement.kind == "check"
            bytes_per_entry = measurement.figures.get("bytes_per_entry", bytes_per_entry)
            _record(target, measurement, bytes_per_entry, record)
            advance(f"{target.name}: {_place(measurement.figures)}")
    if checks < (len(site.grid.graphs) if target.kind == "store" else 1):
        raise no_result(site.processes)


def bench_chunked(site: Site, record: Record, advance: Advance) -> None:
    """Record one task per chunk of friends, end to end with a Celery worker."""
    target = Target("chunked", "mysql_tuned", uses_redis=True, kind="way")
    advance("a task per chunk of friends")
    command = ["bench_ways", "chunked", *site.grid.arguments(*Grid._fields)]
    with site.serving(target, CHUNKED) as env:
        site.processes.start("workers", WORKER, env)
        try:
            measured = list(measurements(site.processes, command, env))
        finally:
            site.processes.stop("workers")
    if not measured:
        raise no_result(site.processes)
    (timed,) = measured
    timed.figures["client_s"] += timed.cpu_s["workers"]
    server_s = timed.cpu_s["database"] + timed.cpu_s["redis"]
    record.add_row(row("way", "chunked", timed.figures, server_s))


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


def _place(figures: dict[str, Any]) -> str:
    return ", ".join(f"{figures[name]:,} {name}" for name in Grid._fields if figures.get(name))

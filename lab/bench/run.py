"""A run of the bench, from options to output."""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from lab.bench.floors import bench_mysql, bench_redis, bench_sqlite
from lab.bench.grid import Grid
from lab.bench.output import publish, show
from lab.bench.record import Record
from lab.bench.requests import bench_requests
from lab.bench.site import Site
from lab.bench.stores import bench_chunked, bench_target
from lab.bench.targets import Target, list_way
from lab.progress import Advance, console, stage
from lab.running.environment import describe_machine
from lab.running.resources import check_resources
from launch.processes import Processes, RunFailed

Work = Callable[[Advance], None]


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
    for name, work, wanted in (
        ("chunked", bench_chunked, redis and site.mysql),
        ("requests", bench_requests, any(target.store == "ring" for target in targets)),
        ("Redis floors", bench_redis, redis),
        ("MySQL's floor", bench_mysql, site.mysql),
        ("SQLite's floor", bench_sqlite, sqlite),
    ):
        if wanted:
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

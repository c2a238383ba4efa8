"""A run of the bench, from options to output."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lab.bench.output import publish, show
from lab.bench.record import Record
from lab.bench.requests import bench_requests
from lab.bench.site import Site, measurements, no_result
from lab.bench.targets import Grid, Target
from lab.progress import Advance, console, stage
from lab.running.machine import check_resources, describe
from launch.processes import Processes, RunFailed


def bench(
    targets: Sequence[Target], grid: Grid, out: Path, *, seconds: float, as_json: bool
) -> bool:
    """Bench the targets; print the tables or the rows, and return whether all went well.

    What was measured is in ``out``, also that of a run that was cut short.
    """
    stores = ",".join(target.name for target in targets)
    cells = [*grid.arguments(*Grid._fields), f"--seconds={seconds:g}"]
    command = " ".join(["python -m lab bench", f"--stores={stores}", *cells])
    record = Record(out, describe(command))
    try:
        with (
            TemporaryDirectory(prefix="lab-") as scratch,
            Processes(record.out / "logs") as processes,
        ):
            site = Site(processes, Path(scratch), grid)
            record.environment["servers"] = site.versions
            databases = list(dict.fromkeys(target.people_in for target in targets))
            if _attempt("databases", partial(site.prepare, databases), record):
                for target in targets:
                    work = partial(bench_target, site, target, cells, record)
                    _attempt(target.name, work, record)
                if any(target.store == "ring" for target in targets):
                    _attempt("requests", partial(bench_requests, site, record), record)
    finally:
        page = publish(record, grid)
    if as_json:
        print(json.dumps(record.rows))
    else:
        show(page, out)
    return not record.failures


def _attempt(name: str, work: Callable[[Advance], None], record: Record) -> bool:
    """Do a part of the run; record its failure, and go on."""
    try:
        with stage(name) as advance:
            check_resources(record.out)
            work(advance)
    except RunFailed as error:
        console.print(f"  [red]failed:[/red] {name}: {error}")
        record.failures.append(f"{name}: {error}")
        record.write()
        return False
    return True


def bench_target(
    site: Site, target: Target, cells: Sequence[str], record: Record, advance: Advance
) -> None:
    """Take one target through its cells. Raises RunFailed if its process exits without a result."""
    checks, bytes_per_entry = 0, None
    with site.serving(target) as env:
        for measurement in measurements(site.processes, cells, env):
            checks += measurement.kind == "check"
            bytes_per_entry = measurement.figures.get("bytes_per_entry", bytes_per_entry)
            record.add(target, measurement, bytes_per_entry)
            advance(f"{target.name}: {_place(measurement.figures)}")
    if checks < len(site.grid.graphs):
        raise no_result(site.processes)


def _place(figures: dict[str, Any]) -> str:
    return ", ".join(f"{figures[name]:,} {name}" for name in Grid._fields if figures.get(name))

"""The load generator of a run: a process of its own."""

import subprocess
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from lab.progress import stage
from lab.running.load import Load
from lab.running.resources import check_resources
from launch.processes import Processes, RunFailed, free_port
from launch.service import Service
from launch.variants import Variant


def generate(load: Load, service: Service, out: Path) -> None:
    """Run Locust to its end. Raises RunFailed if it fails, or an app server ends."""
    command = _asked_of(service.variant, load).locust(service.url, service.tokens, out)
    with stage(f"load: {load.users} users", load.seconds) as advance:
        locust = _start(command, service.processes, load.workers)
        while _still_running(locust):
            service.processes.check("web")
            check_resources(service.folder)
            check_resources(out)
            advance()
    if locust.returncode != 0:
        raise RunFailed(
            f"locust ended with {locust.returncode}: {service.processes.log_tail('locust')}"
        )
    if load.workers:
        for name in ("requests", "unanswered", *load.files):
            _join(out / f"{name}.csv", load.workers)


def _start(command: Sequence[str], processes: Processes, workers: int) -> subprocess.Popen[bytes]:
    """Start Locust; with workers, the master and they, each on a host if roles have hosts."""
    if not workers:
        return processes.start("locust", command, {})
    port = free_port()
    master = (*command, "--master", f"--expect-workers={workers}", f"--master-bind-port={port}")
    worker = (*command, "--worker", f"--master-port={port}")
    started = processes.start("locust", master, {})
    for number in range(1, workers + 1):
        where = f"--master-host={processes.address('locust')}"
        processes.start("locust", (*worker, where), {}, host=f"locust{number}")
    return started


def _join(file: Path, parts: int) -> None:
    """Write the rows of all workers' files, like requests-0.csv, into one. Raises RunFailed."""
    with file.open("w") as joined:
        for number in range(parts):
            part = file.with_stem(f"{file.stem}-{number}")
            if not part.exists():
                raise RunFailed(f"worker {number} of Locust left no {part.name}")
            with part.open() as rows:
                joined.writelines(islice(rows, 1 if number else 0, None))


def _asked_of(variant: Variant, load: Load) -> Load:
    if variant.locustfile:
        return replace(load, locustfile=variant.locustfile, options=variant.options)
    return replace(load, options={**load.options, **variant.options})


def _still_running(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(timeout=0.2)
    except subprocess.TimeoutExpired:
        return True
    return False

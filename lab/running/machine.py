"""The machine: what a result says of it, how fast it is now, and whether it has room."""

import os
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from lab.progress import console
from launch.processes import RunFailed

PACKAGES = (
    *("Django", "djangorestframework", "gunicorn", "celery", "mysqlclient", "psycopg"),
    *("redis", "hiredis", "numpy", "locust"),
)

CALIBRATION = """
import time
for _ in range(5):
    started = time.perf_counter()
    for step in range(1_000_000):
        pass
    print((time.perf_counter() - started) * 1000)
"""
FREE_DISK_MIB = 1024
FREE_MEMORY_MIB = 512
MORE_DISK = (
    "remove something there, or choose another disk, --out DIR for results and TMPDIR=DIR for "
    "databases"
)
MAKING_LOAD = [["-m", "lab", command] for command in ("run", "bench", "live")]


def describe(command: str) -> dict[str, Any]:
    """Describe the machine; ``command`` is the one that repeats the run."""
    return {
        "commit": commit(),
        "command": command,
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
        "servers": {},
        "cpu": _cpu_model(),
        "cpus": os.cpu_count(),
        "calibration_ms": calibration_ms(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
    }


def warn_of_others() -> None:
    """Say which other laboratories make load on this machine now."""
    for process in psutil.process_iter(["cmdline"]):
        command = (process.info["cmdline"] or [])[1:4]
        if command in MAKING_LOAD and process.pid != os.getpid():
            other = f"{' '.join(command[1:])} (pid {process.pid})"
            console.print(f"[red]{other} makes load too:[/red] figures of both won't be sound")


def calibration_ms() -> float:
    """Return the milliseconds for a fixed piece of Python while every core does the same;
    a virtual machine has noisy neighbours (CPU steal).

    Compare it between runs: figures of two runs that differ by it say little about the variants.
    """
    workers = [
        subprocess.Popen((sys.executable, "-c", CALIBRATION), stdout=subprocess.PIPE, text=True)
        for _ in range(os.cpu_count() or 1)
    ]
    took = [float(ms) for worker in workers for ms in worker.communicate()[0].split()]
    return round(median(took), 1)


class Shortage(RunFailed):
    """The machine is short of disk or memory: no further run would fare better."""


def check_resources(folder: Path) -> None:
    """Raise Shortage if the disk of ``folder`` or the memory is nearly used up."""
    disk_mib = psutil.disk_usage(str(folder)).free / 2**20
    memory_mib = psutil.virtual_memory().available / 2**20
    for what, free_mib, needed_mib, remedy in (
        (f"on the disk of {folder}", disk_mib, FREE_DISK_MIB, MORE_DISK),
        ("of memory", memory_mib, FREE_MEMORY_MIB, "end other programs"),
    ):
        if free_mib < needed_mib:
            raise Shortage(
                f"only {free_mib:,.0f} MiB {what} are left, fewer than {needed_mib:,}: {remedy}"
            )


def _cpu_model() -> str:
    """Return what the processors call themselves, as far as Linux tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())


def commit() -> str | None:
    """Return the commit of the code, with -dirty if it was changed; None outside of git."""
    command = ("git", "describe", "--always", "--dirty", "--abbrev=12")
    try:
        return subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None

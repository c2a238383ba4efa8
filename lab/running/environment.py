"""Description of the machine and the variant of a result."""

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil

from lab.progress import console
from lab.running.calibration import calibration_ms
from launch.variants import Variant

PACKAGES = (
    *("Django", "djangorestframework", "gunicorn", "celery", "mysqlclient", "redis", "hiredis"),
    *("numpy", "locust"),
)

MAKING_LOAD = [["-m", "lab", command] for command in ("run", "bench", "live")]


def describe(variant: Variant, command: str) -> dict[str, Any]:
    """Describe the machine and the variant; ``command`` is the one that repeats the run."""
    return describe_machine(command) | {
        "settings": variant.environment,
        "durability_given_away": variant.durability_given_away,
    }


def describe_machine(command: str) -> dict[str, Any]:
    return {
        "commit": _commit(),
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
    for it in psutil.process_iter(["cmdline"]):
        command = (it.info["cmdline"] or [])[1:4]
        if command in MAKING_LOAD and it.pid != os.getpid():
            other = f"{' '.join(command[1:])} (pid {it.pid})"
            console.print(f"[red]{other} makes load too:[/red] figures of both won't be sound")


def _cpu_model() -> str:
    """Return what the processors call themselves, as far as Linux tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())


def _commit() -> str | None:
    command = ("git", "describe", "--always", "--dirty", "--abbrev=12")
    try:
        return subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None

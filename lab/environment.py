"""What a result was measured on."""

import os
import platform
import subprocess
from importlib.metadata import version
from typing import Any

import psutil

from lab.variants import Variant

PACKAGES = ("Django", "djangorestframework", "gunicorn", "locust", "numpy", "mysqlclient", "redis")


def describe(variant: Variant) -> dict[str, Any]:
    return {
        "commit": _commit(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
        "servers": {},
        "cpus": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "durability_given_away": variant.durability_given_away,
    }


def _commit() -> str | None:
    command = ("git", "describe", "--always", "--dirty", "--abbrev=12")
    try:
        return subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None

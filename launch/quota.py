"""CPU quotas by control groups, where they may be written."""

import os
from itertools import count
from pathlib import Path

from launch.processes import Processes

ROOT = Path("/sys/fs/cgroup")
PERIOD_US = 20_000
"""Short, so that a process that has used up its share waits for milliseconds only."""
_numbers = count(1)


def limit(processes: Processes, pid: int, cpus: float, root: Path = ROOT) -> bool:
    """Limit a process and its future children to ``cpus`` cores; return False if that fails."""
    quota_us = round(cpus * PERIOD_US)
    first_version = {"cpu.cfs_period_us": str(PERIOD_US), "cpu.cfs_quota_us": str(quota_us)}
    second_version = {"cpu.max": f"{quota_us} {PERIOD_US}"}
    name = f"lab-{os.getpid()}-{next(_numbers)}"
    for group, settings in (
        (root / "cpu" / name, first_version),
        (root / name, second_version),
    ):
        if _is_set(group, settings, pid):
            processes.at_exit(group.rmdir)
            return True
    return False


def _is_set(group: Path, settings: dict[str, str], pid: int) -> bool:
    try:
        group.mkdir()
    except OSError:
        return False
    try:
        for name, value in (settings | {"cgroup.procs": str(pid)}).items():
            with (group / name).open("r+") as file:  # which no control group creates
                file.write(value)
    except OSError:
        group.rmdir()
        return False
    return True

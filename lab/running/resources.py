"""Checks of disk and memory, to stop in time."""

from pathlib import Path

import psutil

from launch.processes import RunFailed

FREE_DISK_MIB = 1024
FREE_MEMORY_MIB = 512
MORE_DISK = (
    "remove something there, or choose another disk, --out DIR for results and TMPDIR=DIR for "
    "databases"
)


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

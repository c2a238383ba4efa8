"""The metric files of processes: ``<type>_<pid>.db`` in METRICS_DIR.

Counters of ended processes are kept; a new process with the same id continues them. Processes
that share a folder must see each other's ids.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def start_afresh(folder: Path) -> None:
    """Reset all metrics, unless a process of this installation is running (e.g. a drainer)."""
    files = list(folder.glob("*.db"))
    if not any(_lives(file) for file in files):
        for file in files:
            file.unlink(missing_ok=True)


def forget_the_dead(folder: Path) -> None:
    """Remove the live gauges of ended processes."""
    for file in folder.glob("gauge_live*.db"):
        if not _lives(file):
            file.unlink(missing_ok=True)


def readable_files(folder: Path) -> Iterator[Path]:
    """Yield the files that can be read: a process creates each empty, then sizes it."""
    for file in folder.glob("*.db"):
        with suppress(FileNotFoundError):  # another scrape has just forgotten it
            if file.stat().st_size:
                yield file


def _lives(file: Path) -> bool:
    pid = file.stem.rpartition("_")[2]
    return Path("/proc", pid).exists()

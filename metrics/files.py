"""The files that processes count in: ``<type>_<pid>.db`` in METRICS_DIR.

Those of the dead are kept, since their requests were answered all the same; a new process with an
old one's id counts on. One folder is for processes that see each other's ids.
"""

from pathlib import Path


def start_afresh(folder: Path) -> None:
    """Begin at 0, unless a process of this installation lives (a drainer, say)."""
    files = list(folder.glob("*.db"))
    if not any(_lives(file) for file in files):
        for file in files:
            file.unlink(missing_ok=True)


def forget_the_dead(folder: Path) -> None:
    """Remove what is true of living processes only, however the others ended."""
    for file in folder.glob("gauge_live*.db"):
        if not _lives(file):
            file.unlink(missing_ok=True)


def _lives(file: Path) -> bool:
    pid = file.stem.rpartition("_")[2]
    return Path("/proc", pid).exists()

"""``lab figures``: run every command whose results are committed, one after another."""

import json
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path
from typing import NamedTuple

from lab.before import check_folders
from lab.progress import console
from lab.reporting.comparison import Comparison
from lab.reporting.report import page_of, write_page
from lab.results.result import FILE, results_of
from lab.running.machine import commit
from lab.running.matrix import INTERRUPTED
from lab.texts.write import COMMITTED, TEXTS, write
from launch.processes import RunFailed
from launch.unknown import none_of

LIST = Path(__file__).with_name("runs.toml")
DONE = "commit.txt"
"""Of a finished folder: the commit that its results are of."""
GOOD = (0, 1, 3)
"""Exit statuses of a run that was measured, whatever came out."""
NOT_KEPT = shutil.ignore_patterns(
    "logs", "*.csv", "faults.json", "results.json", "report.html", DONE
)


class Entry(NamedTuple):
    name: str
    """Of its folder."""
    command: str
    """Of ``python -m lab``."""
    minutes: int
    short: str
    """Options that make it take about a minute."""

    def arguments(self, *, short: bool) -> list[str]:
        return f"{self.command} {self.short if short else ''}".split()


def entries(only: str | None = None) -> list[Entry]:
    """Return the list, or some of it by name. Raises ValueError for an unknown name."""
    every = [Entry(name, **fields) for name, fields in tomllib.loads(LIST.read_text()).items()]
    known = [entry.name for entry in every]
    wanted = only.split(",") if only else known
    for name in wanted:
        if name not in known:
            raise ValueError(none_of(name, known))
    return [entry for entry in every if entry.name in wanted]


def run(chosen: Sequence[Entry], folder: Path, *, short: bool = False) -> int:
    """Run what isn't finished yet; return 0, or 130 if it was interrupted.

    Raises RunFailed for code that no commit has, and if a command can't run.
    """
    now = str(commit())
    if now.endswith("-dirty") and not short:
        raise RunFailed("the code has changes that no commit has: figures of it can't be repeated")
    check_folders(folder)
    minutes = sum(entry.minutes for entry in chosen)
    about = "a minute each" if short else f"about {minutes / 60:.1f} hours"
    console.print(f"{len(chosen)} commands, {about}; stopped, the same command goes on")
    for entry in chosen:
        if _run(entry, folder / entry.name, now, short=short) == INTERRUPTED:
            return INTERRUPTED
    return 0


def _run(entry: Entry, out: Path, now: str, *, short: bool) -> int:
    done = out / DONE
    if done.exists() and done.read_text() == now and not now.endswith("-dirty"):
        console.print(f"{entry.name}: kept")
        return 0
    if any(now not in path.read_text() for path in out.rglob("result.json")):
        console.print(f"{entry.name}: its results of another commit are removed")
        shutil.rmtree(out)
    arguments = entry.arguments(short=short)
    resumes = ["--resume"] if arguments[0] == "run" else []
    started = time.monotonic()
    command = (sys.executable, "-m", "lab", *arguments, *resumes, f"--out={out}")
    status = _status(command)
    took_s = time.monotonic() - started
    console.print(f"[bold]{entry.name}[/bold]: status {status}, {took_s / 60:.1f} min")
    if status in GOOD and out.exists():  # else it could not begin
        done.write_text(now)
    elif status != INTERRUPTED:
        raise RunFailed(f"{entry.name} ended with status {status}")
    return status


def _status(command: Sequence[str]) -> int:
    """Run a command to its end; interrupted, wait until it has ended its servers."""
    running = subprocess.Popen(command, start_new_session=True)  # Ctrl-C reaches it once: from here
    try:
        return running.wait()
    except KeyboardInterrupt:
        running.send_signal(signal.SIGINT)
        return running.wait()


def keep(folder: Path) -> None:
    """Put what has finished into the committed results, as short, with a report as of today."""
    for done in sorted(folder.glob(f"*/{DONE}")):
        if any(done.parent.rglob(FILE)):  # the bench has none
            write_page(page_of(Comparison(results_of(done.parent))), done.parent)
        kept = COMMITTED / done.parent.name
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(done.parent, kept, ignore=NOT_KEPT)
        for result in kept.rglob(FILE):
            result.write_text(json.dumps(json.loads(result.read_text()), separators=(",", ":")))


def differences(folder: Path) -> str:
    """Return how the texts would change if these, of a short run, were the results."""
    return "".join(
        line
        for path in TEXTS
        for line in unified_diff(
            path.read_text().splitlines(keepends=True),
            write(path.read_text(), folder, short=True).splitlines(keepends=True),
            str(path),
            "written anew",
        )
    )

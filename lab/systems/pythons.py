"""Python environments for code that needs packages of its own, made once below var/published."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path

from launch.processes import RunFailed

CACHE = Path("var/published").resolve()
PIP_WITHIN_S = 600


def python(requirements: Path) -> Path:
    """Return a Python with these packages. Raises RunFailed if they can't be had."""
    version = sha256(requirements.read_bytes() + sys.version.encode()).hexdigest()[:8]
    what = f"the {requirements.parent.name}'s packages ({requirements.name})"

    def install(folder: Path) -> None:
        call(what, (sys.executable, "-m", "venv", str(folder)), PIP_WITHIN_S)
        pip = (str(folder / "bin/python"), "-m", "pip", "--disable-pip-version-check", "--no-input")
        options = ("--quiet", "--retries=1", f"--requirement={requirements}")
        call(what, (*pip, "install", *options), PIP_WITHIN_S)

    return made_once(f"venv-{version}", install) / "bin/python"


def made_once(name: str, make: Callable[[Path], None]) -> Path:
    """Return a folder that ``make`` filled, now or earlier; what it left half made is removed."""
    folder = CACHE / name
    ready = folder / ".ready"
    if not ready.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        make(folder)
        ready.touch()
    return folder


def call(what: str, argv: Sequence[str], within_s: float) -> None:
    """Run a command. Raises RunFailed with the last thing that it said, in one line."""
    quiet = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(
            argv, env=quiet, stdin=subprocess.DEVNULL, capture_output=True, timeout=within_s
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RunFailed(f"{what} can't be had: {error}") from error
    if done.returncode:
        output = done.stderr.decode(errors="replace").strip().splitlines() or [str(done.returncode)]
        raise RunFailed(f"{what} can't be had: {output[-1]}")

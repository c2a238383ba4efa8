"""The author's code, fetched at a commit, and the Python that runs it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path

from launch.processes import RunFailed

REPOSITORY = "https://github.com/chankoo/load-testing-practices"
ADDRESS = "PUBLISHED_CODE"
"""The environment variable that names another copy of the repository, also a folder."""
CACHE = Path("var/published").resolve()
REQUIREMENTS = Path(__file__).with_name("requirements.txt")
GIT_WITHIN_S = 120
PIP_WITHIN_S = 600


def fetched(commit: str) -> Path:
    """Return a folder with the author's code at a commit. Raises RunFailed if it can't be had."""
    address = os.environ.get(ADDRESS) or REPOSITORY
    what = f"the published code ({address}, commit {commit[:7]}; {ADDRESS} names another copy)"

    def fetch(folder: Path) -> None:
        for arguments in (
            ("init", "--quiet"),
            ("fetch", "--quiet", "--depth=1", address, commit),
            ("checkout", "--quiet", "FETCH_HEAD"),
        ):
            _call(what, ("git", "-C", str(folder), *arguments), GIT_WITHIN_S)

    return _made_once(CACHE / commit, fetch)


def python(requirements: Path = REQUIREMENTS) -> Path:
    """Return a Python with the author's packages. Raises RunFailed if they can't be had."""
    version = sha256(requirements.read_bytes() + sys.version.encode()).hexdigest()[:8]
    what = f"the {requirements.parent.name}'s packages ({requirements.name})"

    def install(folder: Path) -> None:
        _call(what, (sys.executable, "-m", "venv", str(folder)), PIP_WITHIN_S)
        pip = (str(folder / "bin/python"), "-m", "pip", "--disable-pip-version-check", "--no-input")
        options = ("--quiet", "--retries=1", f"--requirement={requirements}")
        _call(what, (*pip, "install", *options), PIP_WITHIN_S)

    return _made_once(CACHE / f"venv-{version}", install) / "bin/python"


def _made_once(folder: Path, make: Callable[[Path], None]) -> Path:
    """Return a folder that ``make`` filled, now or earlier; what it left half made is removed."""
    ready = folder / ".ready"
    if not ready.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        make(folder)
        ready.touch()
    return folder


def _call(what: str, argv: Sequence[str], within_s: float) -> None:
    """Run a command. Raises RunFailed with the last thing that it said, in one line."""
    quiet = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(
            argv, env=quiet, stdin=subprocess.DEVNULL, capture_output=True, timeout=within_s
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RunFailed(f"{what} can't be had: {error}") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines() or [str(done.returncode)]
        raise RunFailed(f"{what} can't be had: {said[-1]}")

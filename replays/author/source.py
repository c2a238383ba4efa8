"""The author's code, fetched at a commit."""

import os
from pathlib import Path

from lab.systems.pythons import call, made_once

REPOSITORY = "https://github.com/chankoo/load-testing-practices"
ADDRESS = "PUBLISHED_CODE"
"""The environment variable that names another copy of the repository, also a folder."""
GIT_WITHIN_S = 120


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
            call(what, ("git", "-C", str(folder), *arguments), GIT_WITHIN_S)

    return made_once(commit, fetch)

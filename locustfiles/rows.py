"""CSV files that a load generator writes, row by row, and the accepted posts among them."""

import csv
import os
from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from locust.env import Environment
from locust.runners import MasterRunner, WorkerRunner

from locustfiles.people import LoadPerson

NEWEST = 200
"""Most posts remembered per person, and most posts read per feed."""


def own_file(environment: Environment, path: str) -> str:
    """Return the file of this process; a worker's has its index, like posts-0.csv.

    A master, which has no users, has none.
    """
    runner = environment.runner
    if isinstance(runner, MasterRunner):
        return os.devnull
    if path == os.devnull or not isinstance(runner, WorkerRunner):
        return path
    file = Path(path)
    return str(file.with_stem(f"{file.stem}-{runner.worker_index}"))


class RowLog:
    """A CSV file of this process."""

    def __init__(self, environment: Environment, path: str, columns: Sequence[str]) -> None:
        self._file = Path(own_file(environment, path)).open("w", newline="", buffering=1)  # noqa: SIM115
        self._rows = csv.writer(self._file)
        self._rows.writerow(columns)
        environment.events.quitting.add_listener(self._close)

    def write(self, *values: object) -> None:
        self._rows.writerow(values)

    def _close(self, **kwargs: Any) -> None:
        self._file.close()


class AcceptedLog:
    """CSV of all posts answered with 201, recorded outside of the service for the audit.

    By position of their authors, ``posts`` counts them, and ``newest`` has the ids of the last.
    """

    def __init__(self, environment: Environment, path: str) -> None:
        self._rows = RowLog(environment, path, ("id", "author", "created_at", "sent_at"))
        environment.events.test_start.add_listener(self._forget)
        self._forget()

    def write(self, author: LoadPerson, post: dict[str, Any], sent_at: float) -> None:
        """Record a post; ``sent_at``: Unix time from which its author has waited."""
        self.posts[author.position] += 1
        self.newest[author.position].append(post["id"])
        self._rows.write(post["id"], post["author"], post["created_at"], f"{sent_at:.6f}")

    def _forget(self, **kwargs: Any) -> None:
        self.posts: Counter[int] = Counter()
        self.newest: defaultdict[int, deque[int]] = defaultdict(lambda: deque(maxlen=NEWEST))

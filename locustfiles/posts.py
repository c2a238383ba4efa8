"""What the load generator writes, and its record of what was accepted."""

import csv
import random
from typing import Any

from locust.env import Environment

WORDS = (
    "today morning coffee window river garden paper letter friend street market summer winter "
    "music story picture train mountain weather dinner little quiet early later always never"
).split()
BODIES = [" ".join(random.choices(WORDS, k=random.randint(30, 60))) for _ in range(500)]  # noqa: S311


def random_body() -> str:
    """Return a text of a few hundred characters."""
    return random.choice(BODIES)  # noqa: S311


class AcceptedLog:
    """A CSV row for each post that was answered with 201: the audit's witness from outside."""

    def __init__(self, environment: Environment, path: str) -> None:
        self._file = open(path, "w", newline="", buffering=1)  # noqa: SIM115, PTH123
        self._rows = csv.writer(self._file)
        self._rows.writerow(("id", "author", "created_at"))
        environment.events.quitting.add_listener(self._close)

    def write(self, post: dict[str, Any]) -> None:
        self._rows.writerow((post["id"], post["author"], post["created_at"]))

    def _close(self, **kwargs: Any) -> None:
        self._file.close()

"""The load generator's record of accepted posts."""

from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Any

from locust.env import Environment

from locustfiles.people import LoadPerson
from locustfiles.rows import RowLog

NEWEST = 200
"""Most posts remembered per person, and most posts read per feed."""


class AcceptedLog:
    """CSV of all posts answered with 201, recorded outside of the service for the audit.

    Also remembers the newest posts of each person.
    """

    def __init__(self, environment: Environment, path: str) -> None:
        self._rows = RowLog(environment, path, ("id", "author", "created_at"))
        environment.events.test_start.add_listener(self._forget)
        self._forget()

    def write(self, author: LoadPerson, post: dict[str, Any]) -> None:
        self.total += 1
        self._newest[author.position].append(post["id"])
        self._rows.write(post["id"], post["author"], post["created_at"])

    def authors(self) -> list[int]:
        """Return the positions of people who have posted."""
        return sorted(self._newest)

    def newest_of(self, position: int) -> Sequence[int]:
        """Return the ids of a person's newest posts."""
        return self._newest.get(position, ())

    def _forget(self, **kwargs: Any) -> None:
        self.total = 0
        self._newest: defaultdict[int, deque[int]] = defaultdict(lambda: deque(maxlen=NEWEST))

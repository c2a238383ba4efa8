"""Arrivals: when a user acts next, and from when on its latency counts.

With a schedule, each user acts once per ``pace_s``, at a random phase: without it, users would stay
synchronized in bursts.
"""

import random
import time
from collections.abc import Callable
from typing import Any

import gevent
from gevent.pool import Group
from locust import User

MOST_IN_FLIGHT = 20
"""Per user: the connections of 500 users then fit into Locust's limit of 10,000 files."""


class Dropped(Exception):
    """An action that was due while too many earlier ones were unanswered."""


class Closed:
    """Users wait for their answers: those who wait for longer than their pace do less.

    Otherwise they keep their own schedule. With pacing from the last start, one stall of the
    generator would synchronize all delayed users, and every burst would add to the next.
    """

    was_refused = False
    """Whether the user's latest answer was a failure."""

    def __init__(self, user: User, pace_s: float) -> None:
        self.user = user
        self.pace_s = pace_s

    def begin(self) -> None:
        """Wait for the user's phase."""
        self._due = time.time() + random.random() * self.pace_s  # noqa: S311
        gevent.sleep(self._due - time.time())

    def wait_s(self) -> float:
        """Return the seconds until the user's next action."""
        now = time.time()
        self._due = max(self._due + self.pace_s, now)
        return self._due - now

    def run(self, request_type: str, name: str, do: Callable[[float], object]) -> None:
        """Call ``do`` for the action that is due now, with the Unix time when it was due.

        Locust records what is dropped under ``request_type`` and ``name``.
        """
        do(time.time())

    def end(self) -> None:
        """End what the user has under way; a closed user's request ends with its user."""


class Paused(Closed):
    """Users pause for ``pace_s`` after each answer, and all start at once, as with k6's sleep()."""

    def begin(self) -> None:
        """Start at once."""

    def wait_s(self) -> float:
        return self.pace_s


class Checked(Paused):
    """Refused users try again at once: k6's fail() skips the sleep() that follows."""

    def wait_s(self) -> float:
        return 0.0 if self.was_refused else self.pace_s


class Open(Closed):
    """Actions are due on a fixed schedule, answered or not; latency counts from when they were due.

    Actions due while MOST_IN_FLIGHT are unanswered are dropped, and count as failures.
    """

    def __init__(self, user: User, pace_s: float) -> None:
        super().__init__(user, pace_s)
        self._under_way = Group()

    def wait_s(self) -> float:
        self._due += self.pace_s
        return max(0.0, self._due - time.time())

    def run(self, request_type: str, name: str, do: Callable[[float], object]) -> None:
        if len(self._under_way) < MOST_IN_FLIGHT:
            self._under_way.spawn(do, self._due)
            return
        self.user.environment.events.request.fire(
            request_type=request_type,
            name=name,
            start_time=self._due,
            response_time=None,
            response_length=0,
            exception=Dropped(f"dropped: {MOST_IN_FLIGHT} unanswered"),
            context={},
        )

    def end(self) -> None:
        """Cancel what is unanswered after Locust's ``--stop-timeout``."""
        self._under_way.join(timeout=self.user.environment.stop_timeout)
        self._under_way.kill()


ARRIVALS = {"closed": Closed, "paused": Paused, "checked": Checked, "open": Open}


def count_from(due: float, response: Any) -> None:
    """Count a request's latency from when it was due; call this before Locust records it."""
    meta = response.request_meta
    meta["response_time"] += (meta["start_time"] - due) * 1000
    meta["start_time"] = due

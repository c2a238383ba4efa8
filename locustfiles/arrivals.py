"""Arrivals: when a user does the next thing, and from when on its latency counts.

With a schedule, everyone does one thing each ``pace_s``, with a random phase: bursts would stay in
step.
"""

import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import gevent
from gevent.pool import Group
from locust import User

MOST_IN_FLIGHT = 20
"""Of a user: 500 users' connections then fit into the 10,000 files that Locust asks for."""


class Action(NamedTuple):
    """Something that a user does, as Locust records it, and how; called with when it was due."""

    request_type: str
    name: str
    do: Callable[[float], object]


class Dropped(Exception):
    """An action that was due while too many earlier ones were unanswered."""


class Arrivals(ABC):
    was_refused = False
    """Whether the user's latest answer was a failure."""

    def __init__(self, user: User, pace_s: float) -> None:
        self.user = user
        self.pace_s = pace_s

    def begin(self) -> None:
        """Wait for the user's phase."""
        self._due = time.time() + random.random() * self.pace_s  # noqa: S311
        gevent.sleep(self._due - time.time())

    @abstractmethod
    def wait_s(self) -> float:
        """Return how long users wait for their next action."""

    @abstractmethod
    def run(self, action: Action) -> None:
        """Do what is due now."""

    @abstractmethod
    def end(self) -> None:
        """Leave what is under way, when Locust has waited for it (``--stop-timeout``)."""


class Closed(Arrivals):
    """Users wait for their answers: those who wait for longer than their pace do less.

    They keep to their own schedule otherwise. Pacing from the last start would keep in step all
    those whom one stall of the generator has delayed, and every burst would add to the next.
    """

    def wait_s(self) -> float:
        now = time.time()
        self._due = max(self._due + self.pace_s, now)
        return self._due - now

    def run(self, action: Action) -> None:
        action.do(time.time())

    def end(self) -> None:
        """Nothing is: what was asked for ends with its user."""


class Paused(Closed):
    """Users pause for ``pace_s`` after each answer, and all begin at once: k6's sleep()."""

    def begin(self) -> None:
        """Begin at once."""

    def wait_s(self) -> float:
        return self.pace_s


class Checked(Paused):
    """Users who are refused ask again at once: k6's fail() skips the sleep() that follows."""

    def wait_s(self) -> float:
        return 0.0 if self.was_refused else self.pace_s


class Open(Arrivals):
    """Actions are due on a fixed schedule, answered or not; latency counts from when they were due.

    What is due while MOST_IN_FLIGHT are unanswered is dropped, and counted as a failure.
    """

    def begin(self) -> None:
        self._under_way = Group()
        super().begin()

    def wait_s(self) -> float:
        self._due += self.pace_s
        return max(0.0, self._due - time.time())

    def run(self, action: Action) -> None:
        if len(self._under_way) < MOST_IN_FLIGHT:
            self._under_way.spawn(action.do, self._due)
        else:
            self._drop(action)

    def end(self) -> None:
        self._under_way.join(timeout=self.user.environment.stop_timeout)
        self._under_way.kill()

    def _drop(self, action: Action) -> None:
        self.user.environment.events.request.fire(
            request_type=action.request_type,
            name=action.name,
            start_time=self._due,
            response_time=None,
            response_length=0,
            exception=Dropped(f"dropped: {MOST_IN_FLIGHT} unanswered"),
            context={},
        )


ARRIVALS: dict[str, type[Arrivals]] = {
    "closed": Closed,
    "paused": Paused,
    "checked": Checked,
    "open": Open,
}


def count_from(due: float, response: Any) -> None:
    """Let a request's latency begin when it was due; to be called before Locust records it."""
    meta = response.request_meta
    meta["response_time"] += (meta["start_time"] - due) * 1000
    meta["start_time"] = due

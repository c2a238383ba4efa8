"""Requests of a load generator that are not part of the load."""

import json
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any
from urllib.request import Request, urlopen

import gevent
from locust.env import Environment

LOOK_EVERY_S = 1.0
TIMEOUT_S = 5


class Unreachable(Exception):
    """The service gives no answer, or not the expected one."""


def ask(host: str | None, path: str, headers: Mapping[str, str] | None = None) -> Any:
    """Return the JSON of an answer. Raises Unreachable."""
    url = f"{(host or '').rstrip('/')}{path}"
    try:
        with urlopen(Request(url, headers=dict(headers or {})), timeout=TIMEOUT_S) as answer:  # noqa: S310
            return json.load(answer)
    except (OSError, ValueError, HTTPException) as error:
        raise Unreachable(f"{url}: {getattr(error, 'reason', error)}") from error


class Watch:
    """Polls /statusz once per second, and remembers the worst lag of a test."""

    def __init__(self, environment: Environment) -> None:
        self.status: dict[str, Any] | None = None
        """The latest answer; None if the service is unreachable."""
        self.error = "not asked yet"
        """Why there is no status."""
        self.worst_lag_ms: float | None = None
        """The highest p99 over any 10 s; without deliveries, the age of the oldest pending post."""
        self._environment = environment
        environment.events.test_start.add_listener(self._forget)

    def keep_looking(self) -> None:
        while True:
            self.look()
            gevent.sleep(LOOK_EVERY_S)

    def look(self) -> None:
        try:
            status = self.status = ask(self._environment.host, "/statusz")
        except Unreachable as error:
            self.status, self.error = None, str(error)
            return
        lag_ms = status["lag_ms"]["p99"]
        if lag_ms is None and status["backlog"]["posts"]:
            lag_ms = (status["backlog"]["oldest_age_s"] or 0.0) * 1000
        if lag_ms is not None:
            self.worst_lag_ms = max(lag_ms, self.worst_lag_ms or 0.0)

    def worst_lag_by_now(self) -> float | None:
        self.look()
        return self.worst_lag_ms

    def _forget(self, **kwargs: Any) -> None:
        self.worst_lag_ms = None

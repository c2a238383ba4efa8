"""Lanes: separate connections for slow requests, so that they can't use up all of them.

A view names its ``lane``; DB_LANES maps lanes to database aliases. A lane that is not in DB_LANES
reads from the usual database. Writes always go to the default database.
"""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse

EXPENSIVE = "expensive"

_lane: ContextVar[str | None] = ContextVar("lane", default=None)


class LaneMiddleware:
    """Sets the lane of the view.

    The next request resets it, not the end of this one: a streamed answer may still read.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        _lane.set(None)
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: Any, kwargs: Any
    ) -> None:
        _lane.set(getattr(getattr(view, "cls", None), "lane", None))


def keep_to_the_lane() -> None:
    """Give back the default database's connection, if the lane has its own, before slow reads."""
    if settings.DB_LANES.get(_lane.get() or "") and not connection.in_atomic_block:
        connection.close()


class LaneRouter:
    def db_for_read(self, model: type, **hints: Any) -> str | None:
        lane = _lane.get()
        alias: str | None = settings.DB_LANES.get(lane) if lane else None
        return alias

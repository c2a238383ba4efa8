"""Lanes: which connections a request reads through, so that slow requests can't take them all.

A view names its ``lane``; DB_LANES says which database alias reads of that lane go to. A lane that
isn't named there reads where everything else does. Writes always go to the default database.
"""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

EXPENSIVE = "expensive"

_lane: ContextVar[str | None] = ContextVar("lane", default=None)


class LaneMiddleware:
    """Notes the lane of the view that is about to answer.

    It isn't reset afterwards but by the next request: a streamed answer is still reading then.
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


class LaneRouter:
    def db_for_read(self, model: type, **hints: Any) -> str | None:
        lane = _lane.get()
        alias: str | None = settings.DB_LANES.get(lane) if lane else None
        return alias

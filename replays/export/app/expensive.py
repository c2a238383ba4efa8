"""Connections of their own for expensive requests, so that they can't use up all of them.

A view that ``is_expensive`` reads from the database EXPENSIVE_ALIAS. Writes always go to the
default database.
"""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse

from replays.databases.routers import PrimaryRouter

_is_expensive: ContextVar[bool] = ContextVar("is_expensive", default=False)


class Middleware:
    """Notes whether the view is expensive.

    The next request resets it, not the end of this one: a streamed answer may still read.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        _is_expensive.set(False)
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: Any, kwargs: Any
    ) -> None:
        _is_expensive.set(getattr(getattr(view, "cls", None), "is_expensive", False))


def give_back_connection() -> None:
    """Give back the default database's connection before slow reads on another one."""
    if _alias() and not connection.in_atomic_block:
        connection.close()


class Router(PrimaryRouter):
    def db_for_read(self, model: type, **hints: Any) -> str | None:
        return _alias()


def _alias() -> str | None:
    return settings.EXPENSIVE_ALIAS or None if _is_expensive.get() else None

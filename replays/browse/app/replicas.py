"""Reading from replicas, and reading one's own writes (docs/decisions/0015).

The answer to an unsafe request sets a cookie with the primary's position, which the client sends
back for a while: then it reads from a replica that has reached this position, else from the
primary. App servers keep no state, so any number of them works. The cookie is signed: else anybody
could make reads wait for a position that never comes. MariaDB and PostgreSQL have positions
(browse.E001 refuses other servers).
"""

import logging
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial
from math import ceil
from typing import Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections
from django.http import HttpRequest, HttpResponse

from replays.databases.routers import PrimaryRouter
from replays.positions import POSITIONS, Positions

COOKIE = "written"
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
CATCH_UP_WITHIN_S = 0.05
"""Seconds that a read waits for a replica to catch up; then it goes to the primary."""
NO_POSITION = "unknown"
Handler = Callable[[HttpRequest], HttpResponse]
logger = logging.getLogger(__name__)
_choose_once: ContextVar[Callable[[], str]] = ContextVar("choice", default=lambda: DEFAULT_DB_ALIAS)
"""Called at the first read, so that a request without one waits for nothing."""


class Router(PrimaryRouter):
    """Reads go to the chosen replica, everything else to the primary."""

    def db_for_read(self, model: Any, **hints: Any) -> str:
        return _choose_once.get()()


def note_writes(get_response: Handler) -> Handler:
    """Middleware: set the cookie after writes."""

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if request.method not in SAFE_METHODS and response.status_code < 300:
            response.set_signed_cookie(
                COOKIE,
                primary_position(),
                max_age=ceil(settings.OWN_WRITES_S),
                secure=settings.HTTPS,
                httponly=True,
                samesite="Lax",
            )
        return response

    return answer


def has_written(request: Any) -> bool:
    """Return whether the client has written within OWN_WRITES_S."""
    return bool(request.get_signed_cookie(COOKIE, ""))


@contextmanager
def reading(request: Any) -> Iterator[None]:
    """Read from a replica, if there is one that has reached the position of the cookie."""
    if not settings.REPLICAS:
        yield
        return
    forged = "" if COOKIE in request.COOKIES else None
    after = request.get_signed_cookie(COOKIE, forged)
    token = _choose_once.set(cache(partial(_choose, after)))
    try:
        yield
    finally:
        _choose_once.reset(token)


def primary_position() -> str:
    """Return a position that includes everything committed so far."""
    if not settings.REPLICAS:
        return NO_POSITION
    try:
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            return _positions().of_primary(cursor)
    except DatabaseError as error:  # the write is committed in any case
        logger.warning("no position: %s", error)
        return NO_POSITION


def _choose(after: str | None) -> str:
    replica: str = random.choice(settings.REPLICAS)  # noqa: S311
    try:
        if after is None:
            connections[replica].ensure_connection()
            return replica
        if _positions().form.fullmatch(after) and _has_reached(replica, after):
            return replica
    except DatabaseError as error:
        logger.warning("%s is left out: %s", replica, error)
    return DEFAULT_DB_ALIAS


def _has_reached(replica: str, position: str) -> bool:
    with connections[replica].cursor() as cursor:
        return _positions().await_on(cursor, position, CATCH_UP_WITHIN_S)


def _positions() -> Positions:
    return POSITIONS[connections[DEFAULT_DB_ALIAS].vendor]

"""Read your own writes, even if other readers see slightly old data.

The answer to an unsafe request sets a cookie with the primary's position, which the client sends
back for a while. App servers keep no state, so any number of them works (docs/decisions/0015).
It is signed: else anybody could make reads wait for a position that never comes.
"""

from collections.abc import Callable
from math import ceil
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from db.replicas import primary_position, reading

COOKIE = "written"
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
Handler = Callable[[HttpRequest], HttpResponse]


def seen(get_response: Handler) -> Handler:
    """Middleware: choose the database of a request's reads, and set a cookie after writes."""

    def answer(request: HttpRequest) -> HttpResponse:
        if request.method in SAFE_METHODS:
            forged = "" if COOKIE in request.COOKIES else None
            with reading(after=request.get_signed_cookie(COOKIE, forged)):
                return get_response(request)
        response = get_response(request)
        if response.status_code < 300:
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

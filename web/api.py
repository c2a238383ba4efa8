"""Shared by all endpoints: parses requests and answers errors, as JSON."""

import logging
from collections.abc import Iterable, Mapping
from typing import IO, Any

from django.core.exceptions import ObjectDoesNotExist, RequestDataTooBig
from django.db import OperationalError
from django.http import HttpRequest, JsonResponse
from django_redis.exceptions import ConnectionInterrupted
from redis.exceptions import RedisError
from rest_framework.exceptions import APIException, NotFound, ParseError, ValidationError
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import JSONParser
from rest_framework.permissions import SAFE_METHODS
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import exception_handler

from db.outcomes import may_have_stored

logger = logging.getLogger(__name__)


UNAVAILABLE = (OperationalError, RedisError, ConnectionInterrupted)


class RequestTooLarge(APIException):
    status_code = 413
    default_detail = "The request is too large."
    default_code = "request_too_large"


class Unavailable(APIException):
    """503, with a code for programs beside the text."""

    status_code = 503
    default_detail = "A server behind this one can't take the request now. Try again."
    default_code = "unavailable"
    wait = 1  # seconds, answered as Retry-After

    def __init__(self) -> None:
        super().__init__({"detail": self.default_detail, "code": self.default_code})


class NotStored(Unavailable):
    default_detail = "A server behind this one can't take it now. Nothing was stored. Try again."
    default_code = "not_stored"


class OutcomeUnknown(Unavailable):
    default_detail = (
        "A server behind this one did not confirm the request. It may have been stored, or be "
        "stored later. Repeat it; a post with the same Idempotency-Key, or it may appear twice."
    )
    default_code = "outcome_unknown"


class StrictJSONParser(JSONParser):
    """Parses JSON as UTF-8 (RFC 8259), whatever charset a client declares."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        context = {**(parser_context or {}), "encoding": "utf-8"}
        try:
            return super().parse(stream, media_type, context)
        except RecursionError:
            raise ParseError("JSON parse error - nested too deeply") from None


class JSONOnly(DefaultContentNegotiation):
    """Answers JSON whatever a client says it accepts."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        renderer = next(iter(renderers))
        return renderer, str(renderer.media_type)


def answer_exception(exc: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's EXCEPTION_HANDLER, also for exceptions of services and database."""
    if isinstance(exc, ObjectDoesNotExist):
        exc = NotFound()
    if isinstance(exc, RequestDataTooBig):
        exc = RequestTooLarge()
    if isinstance(exc, ValidationError) and isinstance(exc.detail, list):
        exc = ValidationError({"non_field_errors": exc.detail})  # null instead of an object
    if isinstance(exc, UNAVAILABLE):
        logger.warning("unavailable: %s", exc)
        exc = _unavailable(context["request"])
    return exception_handler(exc, context)


def _unavailable(request: Request) -> Unavailable:
    if request.method in SAFE_METHODS:
        return Unavailable()
    return OutcomeUnknown() if may_have_stored() else NotStored()


def bad_request(request: HttpRequest, exception: Exception) -> JsonResponse:
    return JsonResponse({"detail": "Bad request."}, status=400)


def not_found(request: HttpRequest, exception: Exception) -> JsonResponse:
    return JsonResponse({"detail": "Not found."}, status=404)


def server_error(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"detail": "Internal server error."}, status=500)

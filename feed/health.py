"""Probes for whoever runs the service; open to everyone, and cheap."""

from django.db import DatabaseError
from django.http import HttpRequest, JsonResponse

from feed import selectors


def healthz(request: HttpRequest) -> JsonResponse:
    """The process is up."""
    return JsonResponse({"status": "up"})


def readyz(request: HttpRequest) -> JsonResponse:
    """The database answers; and how far the deliveries are behind."""
    try:
        backlog = selectors.backlog()
    except DatabaseError:
        return JsonResponse({"status": "unready", "database": "unavailable"}, status=503)
    return JsonResponse({"status": "ready", "database": "ok", "backlog": backlog._asdict()})

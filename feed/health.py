"""Probes for whoever runs the service; open to everyone, and cheap."""

from django.db import DatabaseError
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from feed import selectors


class Probe(APIView):
    authentication_classes = ()
    permission_classes = (AllowAny,)


@extend_schema(exclude=True)
class HealthView(Probe):
    def get(self, request: Request) -> Response:
        """The process is up."""
        return Response({"status": "up"})


@extend_schema(exclude=True)
class ReadyView(Probe):
    def get(self, request: Request) -> Response:
        """The database answers; and how far the deliveries are behind."""
        try:
            backlog = selectors.backlog()
        except DatabaseError:
            return Response({"status": "unready", "database": "unavailable"}, status=503)
        return Response({"status": "ready", "database": "ok", "backlog": backlog._asdict()})

"""Health probes: public and cheap."""

from django.conf import settings
from django.db import DatabaseError
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from db.writes import why_not
from feed import selectors
from feed.recent_rates import WINDOW_S, recent_rates
from feed.strategies import get_strategy
from feed.timeline_stores import get_timeline_store

AWAY = {"status": "unready", "database": "unavailable"}


class Probe(APIView):
    authentication_classes = ()
    permission_classes = (AllowAny,)


@extend_schema(exclude=True)
class HealthView(Probe):
    def get(self, request: Request) -> Response:
        """Answer 200 while the process is up."""
        return Response({"status": "up"})


@extend_schema(exclude=True)
class ReadyView(Probe):
    def get(self, request: Request) -> Response:
        """Return whether the database takes writes and the store is usable, and the backlog.

        With READY_BACKLOG_AGE_S, a backlog that has become older is unready too.
        """
        try:
            database = why_not() or "ok"
            backlog, store = selectors.backlog(), selectors.store_state()
        except DatabaseError:
            return Response(AWAY, status=503)
        too_old = 0 < settings.READY_BACKLOG_AGE_S < (backlog.oldest_age_s or 0)
        is_ready = database == store == "ok" and not too_old
        state = {"status": "ready" if is_ready else "unready", "database": database, "store": store}
        return Response(state | {"backlog": backlog._asdict()}, status=200 if is_ready else 503)


@extend_schema(exclude=True)
class StatusView(Probe):
    def get(self, request: Request) -> Response:
        """Return strategy, store, backlog, poison, and recent rates."""
        try:
            backlog, poison, now = selectors.backlog(), selectors.poison(), recent_rates()
        except DatabaseError:
            return Response(AWAY, status=503)
        return Response(
            {
                "strategy": get_strategy().alias,
                "store": get_timeline_store().alias,
                "backlog": backlog._asdict(),
                "poison": poison._asdict(),
                "store_state": selectors.store_state(),
                "unfinished_changes": selectors.unfinished_changes(),
                "window_s": WINDOW_S,
                **now._asdict(),
            }
        )

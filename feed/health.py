"""Health probes: public and cheap, and answered in time whatever doesn't answer them."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from db.writes import why_not
from feed import selectors
from feed.backlog import reason_full
from feed.models import Celebrity
from feed.recent_rates import WINDOW_S, recent_rates
from feed.strategies import get_strategy
from feed.timeline_stores import get_timeline_store
from feed.timeline_stores.redis_servers import thread
from runtime.question import Answer, Question
from runtime.remembered import Remembered

AWAY = {"status": "unready", "database": "unavailable"}


class Probe(APIView):
    authentication_classes = ()
    permission_classes = (AllowAny,)


@extend_schema(exclude=True)
class HealthView(Probe):
    def get(self, request: Request) -> Response:
        """Answer 200 while the process is up, or 503 if it is about to be stopped."""
        is_leaving = bool(settings.WEB_LEAVING_FILE) and Path(settings.WEB_LEAVING_FILE).exists()
        return Response({"status": "leaving" if is_leaving else "up"}, 503 if is_leaving else 200)


@extend_schema(exclude=True)
class ReadyView(Probe):
    def get(self, request: Request) -> Response:
        """Return whether the database takes writes and the store is usable, and the backlog.

        While posts are refused because of the backlog, it is ready: for everything else. With
        READY_BACKLOG_AGE_S, a backlog that has become older is unready.
        """
        try:
            (database, backlog, posts), store = _with_store(_database)
        except (DatabaseError, TimeoutError):
            return Response(AWAY, status=503)
        too_old = 0 < settings.READY_BACKLOG_AGE_S < (backlog.oldest_age_s or 0)
        is_ready = database == store == "ok" and not too_old
        state = {"status": "ready" if is_ready else "unready", "database": database, "store": store}
        waiting = {"posts": posts, "backlog": backlog._asdict()}
        return Response(state | waiting, status=200 if is_ready else 503)


@extend_schema(exclude=True)
class StatusView(Probe):
    def get(self, request: Request) -> Response:
        """Return strategy, store, backlog, poison, and recent rates, as of the last second."""
        try:
            found, store = _with_store(_counts)
        except (DatabaseError, TimeoutError):
            return Response(AWAY, status=503)
        chosen = get_timeline_store()
        state = {"store": chosen.alias, "store_is_healing": chosen.is_healing, "store_state": store}
        return Response({"strategy": get_strategy().alias, **state, **found})


def _ask_database() -> tuple[str, selectors.Backlog, str]:
    full = reason_full()
    posts = f"refused: {full}" if full else "ok"
    return why_not() or "ok", selectors.backlog(), posts


def _ask_counts() -> dict[str, Any]:
    return {
        "backlog": selectors.backlog()._asdict(),
        "poison": selectors.poison()._asdict(),
        "unfinished_changes": selectors.unfinished_changes(),
        "celebrities": Celebrity.objects.count(),
        "window_s": WINDOW_S,
        **recent_rates()._asdict(),
    }


def _ask_store() -> str:
    thread.clients.clear()  # a kept connection doesn't tell what became of its server
    return selectors.store_state()


def _with_store(database: Question[Answer]) -> tuple[Answer, str]:
    """Ask the database and the store. Raises DatabaseError, or TimeoutError without its answer."""
    found, store = database.ask(), _store.ask()
    try:
        state = store(settings.READY_WITHIN_S)
    except TimeoutError:
        state = "unavailable: no answer"
    return found(settings.READY_WITHIN_S), state


_database = Question(_ask_database)
_known_counts = Remembered(_ask_counts, for_s=1.0, times=10)
_counts = Question(_known_counts.get)
_store = Question(_ask_store)

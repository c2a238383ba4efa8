"""System check of the queue."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from django.db import connection

from feed.strategies import get_strategy
from workers.queues import queues
from workers.queues.base import Queue

BROKERS = {"redis": "redis", "rediss": "redis", "amqp": "rabbitmq", "amqps": "rabbitmq"}
"""By scheme of BROKER_URL."""


@register()
def check_queue_suits(**kwargs: Any) -> Iterator[CheckMessage]:
    """A queue needs a broker, or a database, that it can use."""
    if get_strategy().needs_queue and (reason := why_unsuitable(queues.current_class)):
        yield Error(
            reason,
            hint="Choose another one with FEED_QUEUE: manage.py list_backends has them.",
            id="workers.E001",
        )


def why_unsuitable(queue: type[Queue]) -> str | None:
    """Return why a queue can't work with BROKER_URL or the database; None if it can."""
    scheme = urlsplit(settings.BROKER_URL).scheme
    if queue.brokers and BROKERS.get(scheme) not in queue.brokers:
        known = " or ".join(name for name, kind in BROKERS.items() if kind in queue.brokers)
        return f"The queue {settings.FEED_QUEUE!r} takes a BROKER_URL of {known}, not {scheme}."
    if queue.needs_postgresql and connection.vendor != "postgresql":
        return f"The queue {settings.FEED_QUEUE!r} needs PostgreSQL, not {connection.vendor}."
    return None

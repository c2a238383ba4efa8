"""Counts the open database connections of a process."""

from threading import Lock
from typing import Any
from weakref import WeakSet

from django.db.backends.base.base import BaseDatabaseWrapper

from metrics.definitions import database_connections

_opened: WeakSet[BaseDatabaseWrapper] = WeakSet()
_told: dict[str, int] = {}
_lock = Lock()


def remember(connection: BaseDatabaseWrapper, **kwargs: Any) -> None:
    """Keep a connection for counting: Django signals only its opening."""
    with _lock:
        _opened.add(connection)


def count_connections() -> None:
    """Set the gauge of each database whose number has changed."""
    with _lock:
        found = dict.fromkeys(_told, 0)
        for it in _opened:
            found[it.alias] = found.get(it.alias, 0) + (it.connection is not None)
        for alias, number in found.items():
            if _told.get(alias) != number:
                _told[alias] = number
                database_connections.labels(alias).set(number)

"""Counts the open database connections of a process."""

from threading import Lock
from typing import Any
from weakref import WeakSet

from django.db.backends.base.base import BaseDatabaseWrapper

from metrics.definitions import database_connections

_opened: WeakSet[BaseDatabaseWrapper] = WeakSet()
_counts: dict[str, int] = {}
"""What the gauge shows, by database alias."""
_lock = Lock()


def remember(connection: BaseDatabaseWrapper, **kwargs: Any) -> None:
    """Keep a connection for counting: Django signals only its opening."""
    with _lock:
        _opened.add(connection)


def count_connections() -> None:
    """Set the gauge of each database whose number has changed."""
    with _lock:
        counts = dict.fromkeys(_counts, 0)
        for wrapper in _opened:
            is_open = wrapper.connection is not None
            counts[wrapper.alias] = counts.get(wrapper.alias, 0) + is_open
        for alias, count in counts.items():
            if _counts.get(alias) != count:
                _counts[alias] = count
                database_connections.labels(alias).set(count)

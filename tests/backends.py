"""The strategies and timeline stores of the settings, selected by flags."""

import os

from django.db import connection

from feed.strategies import strategies
from feed.timeline_stores import timeline_stores


def strategies_with(**flags):
    """Return the aliases of the strategies that have these flags."""
    return _with(flags, strategies.classes())


def stores_with(**flags):
    """Return the aliases of the timeline stores that have these flags."""
    return _with(flags, timeline_stores.classes())


def _with(flags, classes):
    return [
        alias
        for alias, backend in classes.items()
        if all(getattr(backend, flag) == value for flag, value in flags.items())
    ]


def here(aliases):
    """Leave out the stores that a run on MariaDB or on a cluster shows nothing new of."""
    if os.environ.get("TIMELINES"):
        return [alias for alias in aliases if alias in REDIS_STORES]
    if connection.vendor != "sqlite":
        return [alias for alias in aliases if alias not in REDIS_STORES]
    return list(aliases)


REDIS_STORES = stores_with(needs_redis=True)
SQL_STORES = stores_with(is_transactional=True, is_computed_on_read=False)
WRITING_STORES = stores_with(is_computed_on_read=False)
HEALING_STORES = stores_with(is_healing=True)
STORES = stores_with()
DELIVERING = strategies_with(delivers=True)
QUEUE_STRATEGIES = strategies_with(needs_queue=True)

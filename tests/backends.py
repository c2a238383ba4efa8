"""The strategies and timeline stores of the settings, selected by flags."""

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


REDIS_STORES = stores_with(needs_redis=True)
SQL_STORES = stores_with(is_transactional=True, is_computed_on_read=False)
WRITING_STORES = stores_with(is_computed_on_read=False)
HEALING_STORES = stores_with(is_healing=True)
STORES = stores_with()
DELIVERING = strategies_with(delivers=True)
CELERY_STRATEGIES = strategies_with(needs_celery=True)

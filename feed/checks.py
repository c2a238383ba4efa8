"""System checks of the chosen backends and of the database connections."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import OperationalError, connections

from feed.celebrities import AUTO
from feed.strategies import get_strategy
from feed.timeline_stores import get_timeline_store
from feed.timeline_stores.base import MOST_SHARDS
from feed.timeline_stores.redis_cluster import SCHEME
from feed.visibility import POLICIES

MAX_CONNECTIONS = {"mysql": "SELECT @@max_connections", "postgresql": "SHOW max_connections"}


@register()
def check_timeline_takes_parts(**kwargs: Any) -> Iterator[CheckMessage]:
    """A strategy that delivers in parts needs a store that accepts partial delivery."""
    strategy, store = get_strategy(), get_timeline_store()
    if strategy.needs_partial_delivery and not store.accepts_partial_delivery:
        yield Error(
            f"The strategy {strategy.alias!r} delivers a post in parts, but the store "
            f"{store.alias!r} accepts only whole posts.",
            hint="Choose another store with FEED_TIMELINE_STORE, or FEED_STRATEGY=task.",
            id="feed.E002",
        )


@register()
def check_shards_are_a_power_of_two(**kwargs: Any) -> Iterator[CheckMessage]:
    """The lowest bits of a person's id are the number of their shard."""
    shards = settings.FEED_SHARDS
    if shards and not (1 <= shards <= MOST_SHARDS and shards & (shards - 1) == 0):
        yield Error(
            f"FEED_SHARDS is {shards}; it must be a power of two up to {MOST_SHARDS}, or 0.",
            hint="Leave it out: each store knows how many suit it.",
            id="feed.E004",
        )


@register()
def check_threshold_is_a_number(**kwargs: Any) -> Iterator[CheckMessage]:
    """An unreadable threshold would stop every drainer."""
    above = settings.FEED_PULL_ABOVE
    if above != AUTO and not str(above).isdecimal():
        yield Error(
            f"FEED_PULL_ABOVE is {above!r}; it must be a number of friends, or {AUTO}.",
            hint="Leave it out: the posts of all people are delivered.",
            id="feed.E006",
        )


@register()
def check_cache_is_no_cluster(**kwargs: Any) -> Iterator[CheckMessage]:
    """The client of the cache can't use a Redis Cluster."""
    if settings.REDIS_URL.startswith(SCHEME):
        yield Error(
            "REDIS_URL names a Redis Cluster, which only timelines can be in.",
            hint="Set TIMELINE_URL to the cluster, and keep one Redis for the rest.",
            id="feed.E007",
        )


@register()
def check_visibility_is_known(**kwargs: Any) -> Iterator[CheckMessage]:
    """An unknown policy would hide too little."""
    if settings.FEED_VISIBILITY not in POLICIES:
        yield Error(
            f"FEED_VISIBILITY is {settings.FEED_VISIBILITY!r}; it must be one of {POLICIES}.",
            hint="Leave it out: everyone who has an account may read all posts.",
            id="feed.E005",
        )


@register()
def check_no_setting_has_an_old_name(**kwargs: Any) -> Iterator[CheckMessage]:
    """An old name would be ignored: the service would run with the default."""
    for name in settings.OLD_NAMES:
        yield Error(
            f"{name} is set, which is called {settings.RENAMED[name]} now.",
            hint=f"Set {settings.RENAMED[name]} instead, and remove {name}.",
            id="feed.E008",
        )


@register(deploy=True)
def check_store_heals(**kwargs: Any) -> Iterator[CheckMessage]:
    """Warn if the timelines are in a store that is there for comparison."""
    store = get_timeline_store()
    if not store.is_healing:
        yield checks.Warning(
            f"The store {store.alias!r} doesn't heal: what it loses of a feed is not shown again.",
            hint="Choose another one with FEED_TIMELINE_STORE; this one is there for comparison.",
            id="feed.W003",
        )


@register(deploy=True)
def check_a_proxy_is_in_front(**kwargs: Any) -> Iterator[CheckMessage]:
    """Warn if nothing in front bounds what waits: app servers answer an overload too late."""
    if not settings.TRUSTED_PROXIES:
        yield checks.Warning(
            "No proxy is in front: half requests hold threads, and an overload is answered late.",
            hint="Put one there, like compose/haproxy.cfg, and set TRUSTED_PROXIES.",
            id="feed.W002",
        )


@register(Tags.database)
def check_connections_suffice(
    databases: Sequence[str] | None = None, **kwargs: Any
) -> Iterator[CheckMessage]:
    """Warn if the threads need more connections than the server allows: it refuses some then."""
    wanted = settings.WEB_WORKERS * settings.WEB_THREADS
    for alias in databases or ():
        allowed = _max_connections(alias)
        if allowed is not None and wanted > allowed:
            yield checks.Warning(
                f"The app workers may ask for {wanted} connections; the database {alias!r} "
                f"allows {allowed}.",
                hint="Lower WEB_WORKERS or WEB_THREADS, or raise max_connections.",
                id="feed.W001",
            )


def _max_connections(alias: str) -> int | None:
    """Return a server's max_connections; None for SQLite or without an answer."""
    connection = connections[alias]
    if connection.vendor not in MAX_CONNECTIONS:
        return None
    try:
        with connection.cursor() as cursor:
            cursor.execute(MAX_CONNECTIONS[connection.vendor])
            return int(cursor.fetchone()[0])
    except OperationalError:
        return None

"""System checks of the listing and of the replicas."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections

from replays.browse.app.listings import get_listing
from replays.positions import POSITIONS


@register()
def check_listing_is_known(**kwargs: Any) -> list[CheckMessage]:
    """Refuse an unknown FEED_LISTING at start, not at the first request."""
    get_listing()
    return []


@register(Tags.database)
def check_replicas_have_positions(
    databases: Sequence[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Replicas need MariaDB or PostgreSQL, which have positions in their logs."""
    if not settings.REPLICAS or "default" not in (databases or ()):
        return []
    primary = connections["default"]
    if primary.vendor in POSITIONS and getattr(primary, "mysql_is_mariadb", True):
        return []
    return [
        Error(
            "REPLICA_URLS names replicas of a database that is neither MariaDB nor PostgreSQL.",
            hint="Leave REPLICA_URLS out, or replicate from such a server.",
            id="browse.E001",
        )
    ]

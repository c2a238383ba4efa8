"""The service with a pool of connections to MySQL: replays that need one begin with this."""

from typing import Any

from django.core.exceptions import ImproperlyConfigured

from config.settings import *  # noqa: F403
from config.settings import DATABASES, SILENCED_SYSTEM_CHECKS, env

DB_POOL_SIZE = env.int("DB_POOL_SIZE", default=0)
"""Connections that all threads of a process share; 0: one per thread."""
DB_POOL_TIMEOUT_S = env.float("DB_POOL_TIMEOUT_S", default=30.0)
"""Seconds that a request waits for one of them; then it is answered with 503."""


def pooled(database: dict[str, Any], size: int) -> dict[str, Any]:
    """Return a database whose connections all threads of a process share."""
    if database["ENGINE"] not in ("db.mysql", "replays.pools"):
        raise ImproperlyConfigured("pools of connections need MySQL")
    return database | {
        "ENGINE": "replays.pools",
        "CONN_MAX_AGE": 0,
        "POOL_OPTIONS": {"POOL_SIZE": size, "MAX_OVERFLOW": 0, "TIMEOUT": DB_POOL_TIMEOUT_S},
    }


if DB_POOL_SIZE:
    DATABASES["default"] = pooled(DATABASES["default"], DB_POOL_SIZE)
    SILENCED_SYSTEM_CHECKS += ["feed.W001"]  # threads need no more connections than there are

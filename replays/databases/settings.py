"""The service with pools of connections and read replicas: replays that need these begin here."""

from typing import Any

from django.core.exceptions import ImproperlyConfigured

from config.databases import connect
from config.settings import *  # noqa: F403
from config.settings import DATABASES, DB_READ_TIMEOUT_S, SILENCED_SYSTEM_CHECKS, env

DB_POOL_SIZE = env.int("DB_POOL_SIZE", default=0)
"""Connections that all threads of a process share; 0: one per thread."""
DB_POOL_TIMEOUT_S = env.float("DB_POOL_TIMEOUT_S", default=30.0)
"""Seconds that a request waits for one of them; then it is answered with 503."""


def pooled(database: dict[str, Any], size: int) -> dict[str, Any]:
    """Return a database whose connections all threads of a process share."""
    if database["ENGINE"] not in ("db.mysql", "replays.databases"):
        raise ImproperlyConfigured("pools of connections need MySQL")
    return database | {
        "ENGINE": "replays.databases",
        "CONN_MAX_AGE": 0,
        "POOL_OPTIONS": {"POOL_SIZE": size, "MAX_OVERFLOW": 0, "TIMEOUT": DB_POOL_TIMEOUT_S},
    }


if DB_POOL_SIZE:
    DATABASES["default"] = pooled(DATABASES["default"], DB_POOL_SIZE)
    SILENCED_SYSTEM_CHECKS += ["feed.W001"]  # threads need no more connections than there are

REPLICA_URLS = env.list("REPLICA_URLS", default=[])
"""Read replicas of the default database, separated by commas; aliases: replica1, replica2 …"""
REPLICAS = [f"replica{number}" for number, _ in enumerate(REPLICA_URLS, start=1)]
for alias, url in zip(REPLICAS, REPLICA_URLS, strict=True):
    DATABASES[alias] = connect(env.db_url_config(url), read_timeout_s=DB_READ_TIMEOUT_S)

"""Read replicas of the default database."""

from collections.abc import Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from environ import Env

from config.databases import connect


def replicas(urls: Sequence[str], *, read_timeout_s: int) -> dict[str, dict[str, Any]]:
    """Return the databases at these URLs, as replica1, replica2 …"""
    return {
        f"replica{number}": connect(Env.db_url_config(url), read_timeout_s=read_timeout_s)
        for number, url in enumerate(urls, start=1)
    }


class PrimaryRouter:
    """One of Django's DATABASE_ROUTERS: everything but reads goes to the default database."""

    def db_for_write(self, model: Any, **hints: Any) -> str:
        return DEFAULT_DB_ALIAS

    def allow_relation(self, one: Any, other: Any, **hints: Any) -> bool:
        return True

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return db == DEFAULT_DB_ALIAS

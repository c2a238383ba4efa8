"""DATABASE_ROUTERS of a service that reads from more than one database."""

from typing import Any

from django.db import DEFAULT_DB_ALIAS


class PrimaryRouter:
    """Everything but reads goes to the default database."""

    def db_for_write(self, model: Any, **hints: Any) -> str:
        return DEFAULT_DB_ALIAS

    def allow_relation(self, one: Any, other: Any, **hints: Any) -> bool:
        return True

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return db == DEFAULT_DB_ALIAS

"""Whether the database takes writes, found out without writing."""

import os
import shutil
from pathlib import Path
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

LEAST_FREE_BYTES = 16 * 1024**2
"""SQLite's write-ahead log grows by so much before it is checked in."""
IS_READ_ONLY = {
    "mysql": "SELECT @@global.read_only",
    "postgresql": "SELECT current_setting('transaction_read_only')::bool",
}
"""A replica of PostgreSQL says so, too."""


def why_not() -> str | None:
    """Return why the default database would refuse a write; None if it wouldn't.

    A server whose disk is full isn't noticed.
    """
    connection: Any = connections[DEFAULT_DB_ALIAS]
    if is_read_only := IS_READ_ONLY.get(connection.vendor):
        with connection.cursor() as cursor:
            cursor.execute(is_read_only)
            return "read-only" if cursor.fetchone()[0] else None
    file = Path(str(connection.settings_dict["NAME"]))
    if not file.exists():
        return None  # it is in memory
    if not os.access(file, os.W_OK, effective_ids=True):
        return "read-only"
    return "disk full" if shutil.disk_usage(file.parent).free < LEAST_FREE_BYTES else None

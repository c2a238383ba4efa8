"""How the service connects to each database engine."""

from typing import Any

# With synchronous=NORMAL a power cut can lose the last commits, never the file's consistency.
# A crash of the process loses no commit.
SQLITE_INIT = """
PRAGMA journal_mode=WAL;
PRAGMA synchronous=NORMAL;
PRAGMA wal_autocheckpoint=20000;
PRAGMA temp_store=MEMORY;
PRAGMA cache_size=-65536;
"""

# A host that dies without closing its connections keeps the locks of its claims until the server
# ends the session: MariaDB one that is idle in a transaction, MySQL any idle one (Django connects
# again). MySQL's default of group_concat_max_len would truncate the friends of a person
# (feed/recipients.py). Times are UTC, whatever the server's zone is. Each server executes its own
# comments only.
MYSQL_INIT = """
SET SESSION group_concat_max_len = 16777216, time_zone = '+00:00'
/*M!100300 , idle_transaction_timeout = 10 */ /*!80000 , wait_timeout = 10 */
"""


def connect(database: dict[str, Any], *, read_timeout_s: int) -> dict[str, Any]:
    """Add the engine's settings to a parsed DATABASE_URL, whose own options win."""
    database = database | {"CONN_MAX_AGE": None, "CONN_HEALTH_CHECKS": True}
    from_url = database.get("OPTIONS", {})
    if database["ENGINE"] == "django.db.backends.sqlite3":
        # IMMEDIATE: a transaction that reads first and writes later would find its snapshot stale.
        options = {"init_command": SQLITE_INIT, "transaction_mode": "IMMEDIATE", "timeout": 20}
        return database | {"ENGINE": "db.sqlite", "OPTIONS": options | from_url}
    if database["ENGINE"] == "django.db.backends.postgresql":
        options = {"connect_timeout": 2, "read_timeout": read_timeout_s, "prepare_threshold": 5}
        options |= from_url
        return database | {"ENGINE": "db.postgresql", "OPTIONS": options}
    test = {"CHARSET": "utf8mb4", "COLLATION": "utf8mb4_bin"}
    options = _mysql_options(read_timeout_s) | from_url
    return database | {"ENGINE": "db.mysql", "OPTIONS": options, "TEST": test}


def _mysql_options(read_timeout_s: int) -> dict[str, Any]:
    # Without time-outs a stalled server would block every thread forever.
    timeouts = {"connect_timeout": 2, "read_timeout": read_timeout_s, "write_timeout": 10}
    return {
        "charset": "utf8mb4",
        "isolation_level": "read committed",
        "init_command": MYSQL_INIT,
        **timeouts,
    }

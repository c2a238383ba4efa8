"""What tests ask of a database's server: who waits for a lock, the end of a session, statistics."""

import time
from contextlib import closing

from django.db import connection, connections

WAITING = {
    "mysql": "SELECT trx_mysql_thread_id FROM information_schema.innodb_trx"
    " WHERE trx_state = 'LOCK WAIT'",
    "postgresql": "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
}
END = {"mysql": "KILL {}", "postgresql": "SELECT pg_terminate_backend({})"}
RENEWED_S = 0.12
"""InnoDB renews its table only if nobody has read it for 0.1 s."""


def number():
    """Return the number of this thread's session."""
    connection.ensure_connection()
    if connection.vendor == "mysql":
        return connection.connection.thread_id()
    return connection.connection.info.backend_pid


def waiting():
    """Return the numbers of the sessions that wait for a lock."""
    time.sleep(RENEWED_S)
    with closing(connections.create_connection("default")) as own, own.cursor() as cursor:
        cursor.execute(WAITING[connection.vendor])
        return {number for (number,) in cursor.fetchall()}


def end(number):
    with closing(connections.create_connection("default")) as own, own.cursor() as cursor:
        cursor.execute(END[connection.vendor].format(number))


def analyze(*tables):
    """Let MySQL or PostgreSQL count, so that it chooses between plans as it would later.

    SQLite would keep what it counted for the tests that follow.
    """
    if connection.vendor == "sqlite":
        return
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"ANALYZE {'TABLE ' * (connection.vendor == 'mysql')}{table}")


def wait_until(met, within_s=20):
    give_up_at = time.monotonic() + within_s
    while not met():
        assert time.monotonic() < give_up_at
        time.sleep(0.02)

"""A database that has no connection left for the service, or ends those that it has."""

import time
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from typing import Any, ClassVar

import MySQLdb

from lab.faults.base import Fault
from lab.faults.readers import PENDING, Readers
from lab.faults.running import Running, wait_for

TAKEN_S = 2.0
MOST = 10
"""The fewest connections that MariaDB can be limited to; a superuser may have one more."""
OF_THE_SERVICE = "SELECT id FROM information_schema.processlist WHERE db = 'feed'"
REFUSED = "SHOW GLOBAL STATUS LIKE 'Connection_errors_max_connections'"


class Killed(Fault):
    name = "connections-killed"
    text = "All connections to the database are ended at once, while posts are pending."
    safeguard = "receipts"
    at_stake = "posts in flight"
    needs_mysql: ClassVar[bool] = True

    def inject(self, running: Running, readers: Readers) -> int:
        with readers.held_up(), closing(running.connect()) as own:
            cursor = own.cursor()
            in_flight = wait_for(lambda: int(asked(cursor, PENDING)))
            end_others(own, ())
            return in_flight


class Taken(Fault):
    name = "connections-taken"
    text = (
        f"The service's connections to the database end, and for {TAKEN_S:g} s strangers hold all "
        "that it allows."
    )
    safeguard = "answers"
    at_stake = "refused connections"
    needs_mysql: ClassVar[bool] = True

    def inject(self, running: Running, readers: Readers) -> int:
        with readers.held_up(), closing(running.connect()) as own, ExitStack() as open_ones:
            cursor = own.cursor()
            most, before = asked(cursor, "SELECT @@global.max_connections"), refused(cursor)
            strangers = [running.connect() for _ in range(MOST)]
            for stranger in strangers:
                open_ones.enter_context(closing(stranger))
            cursor.execute(f"SET GLOBAL max_connections = {MOST}")
            open_ones.callback(cursor.execute, f"SET GLOBAL max_connections = {most}")
            end_others(own, strangers)
            time.sleep(TAKEN_S)
            return refused(cursor) - before


def end_others(own: Any, strangers: Sequence[Any]) -> None:
    """End all connections to the service's database but one's own and those of strangers."""
    cursor, kept = own.cursor(), {it.thread_id() for it in (own, *strangers)}
    cursor.execute(OF_THE_SERVICE)
    for (number,) in cursor.fetchall():
        if number not in kept:
            end(cursor, number)


def end(cursor: Any, number: int) -> None:
    """End a connection, unless it has ended by itself."""
    with suppress(MySQLdb.OperationalError):
        cursor.execute(f"KILL {number}")


def refused(cursor: Any) -> int:
    """Return how many connections were refused, since there were too many."""
    cursor.execute(REFUSED)
    ((_, count),) = cursor.fetchall()
    return int(count)


def asked(cursor: Any, sql: str) -> Any:
    """Return the one value of a query, as it is now."""
    cursor.execute(sql)
    ((value,),) = cursor.fetchall()
    cursor.connection.commit()
    return value

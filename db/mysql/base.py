"""Django's MySQL backend with fewer round trips per request (docs/decisions/0010).

It remembers what a failed request may have stored (docs/decisions/0049).
"""

import time
from typing import Any

import MySQLdb
from django.db import OperationalError
from django.db.backends.mysql import base

from db.outcomes import StoringCursor, StoringWrapper
from runtime import away

CHECK_AGAIN_S = 1.0
SLOW_S = 1.0
"""A connection that fails after so long has waited for a server that doesn't answer."""


REFUSALS = {
    *(1021, 1114),  # the disk is full, the table is full
    *(1205, 1213),  # a lock was not free in time, a deadlock
    *(1290, 1792, 1836),  # read-only
}
"""Error codes by which a server says that it did nothing. Those of a lost connection
(2006, 2013, 4031 …) are none."""


class Cursor(StoringCursor, base.CursorWrapper):
    def __init__(self, cursor: Any, wrapper: "DatabaseWrapper") -> None:
        super().__init__(cursor)
        self.stores, self.is_refusal = wrapper.get_autocommit, wrapper.is_refusal


class DatabaseWrapper(StoringWrapper, base.DatabaseWrapper):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._checked_at = float("-inf")

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Connect; refuse at once if the server did not answer a moment ago."""
        server = away.server(f"{conn_params.get('host')}:{conn_params.get('port')}")
        if server.refuses():
            raise MySQLdb.OperationalError(f"{self.alias} did not answer a moment ago")
        started, answers = time.monotonic(), True
        try:
            return super().get_new_connection(conn_params)
        except MySQLdb.OperationalError:
            answers = time.monotonic() < started + SLOW_S
            raise
        finally:
            server.note(answers=answers)

    def create_cursor(self, name: str | None = None) -> Cursor:
        return Cursor(self.connection.cursor(), self)

    @staticmethod
    def is_refusal(error: Exception) -> bool:
        is_lost = isinstance(error, (MySQLdb.OperationalError, OperationalError))
        return not is_lost or error.args[0] in REFUSALS

    def close_if_health_check_failed(self) -> None:
        """Check whether a kept connection is alive, at most once per second.

        A connection that dies in between fails one request and is replaced. Django checks once per
        request; a command that computes for long may find its idle connection ended, too.
        """
        if time.monotonic() > self._checked_at + CHECK_AGAIN_S:
            self.health_check_done = self.in_atomic_block
            super().close_if_health_check_failed()
            self._checked_at = time.monotonic()

    def _start_transaction_under_autocommit(self) -> None:
        """Begin with BEGIN: turning autocommit off and on again costs one more round trip."""
        with self.wrap_database_errors:
            self.connection.begin()

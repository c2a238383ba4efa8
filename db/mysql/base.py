"""Django's MySQL backend with fewer round trips per request (docs/decisions/0010).

It remembers what a failed request may have stored (docs/decisions/0049).
"""

from typing import Any

import MySQLdb
from django.db import OperationalError
from django.db.backends.mysql import base

from db.outcomes import StoringCursor
from db.remote import RemoteWrapper

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


class DatabaseWrapper(RemoteWrapper, base.DatabaseWrapper):
    def create_cursor(self, name: str | None = None) -> Cursor:
        return Cursor(self.connection.cursor(), self)

    @staticmethod
    def is_refusal(error: Exception) -> bool:
        is_lost = isinstance(error, (MySQLdb.OperationalError, OperationalError))
        return not is_lost or error.args[0] in REFUSALS

    def _start_transaction_under_autocommit(self) -> None:
        """Begin with BEGIN: turning autocommit off and on again costs one more round trip."""
        with self.wrap_database_errors:
            self.connection.begin()

"""Django's SQLite backend with short write transactions, and a queue for them.

SQLite admits one writer, and the others poll: its busy handler sleeps up to 100 ms between
attempts, so under load the lock is often free while all writers sleep. Here a transaction first
takes a file lock beside the database, which the kernel hands over at once. The transaction begins
with its first statement, so no writer waits while Python compiles one. A process that dies
releases the file lock, which only orders the writers: SQLite's own lock still guards the data,
also against programs without the file lock. See docs/decisions/0003-queue-for-sqlite-writers.md.
"""

import fcntl
import os
import sqlite3
from collections.abc import Callable
from typing import Any

from django.db.backends.sqlite3 import base

from db.outcomes import StoringCursor, StoringWrapper

REFUSALS = ("BUSY", "LOCKED", "READONLY", "FULL", "CANTOPEN", "CONSTRAINT")
"""Names of errors after which nothing is stored; an I/O error is none."""


class Cursor(StoringCursor, base.SQLiteCursorWrapper):
    """Begins the pending transaction with its first statement."""

    begin: Callable[[], None]

    def execute(self, query: str, params: Any = None) -> Any:
        self.begin()
        return super().execute(query, params)

    def executemany(self, query: str, param_list: Any) -> Any:
        self.begin()
        return super().executemany(query, param_list)


class DatabaseWrapper(StoringWrapper, base.DatabaseWrapper):
    _queue: int | None = None
    _begin_due = False

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        connection = super().get_new_connection(conn_params)
        if not self.is_in_memory_db():
            self._queue = _open(f"{conn_params['database']}-writers")
        return connection

    def create_cursor(self, name: str | None = None) -> Cursor:
        cursor: Cursor = self.connection.cursor(factory=Cursor)
        cursor.begin = self._begin
        cursor.stores, cursor.is_refusal = self.get_autocommit, self.is_refusal
        return cursor

    @staticmethod
    def is_refusal(error: Exception) -> bool:
        name = getattr(error.__cause__ or error, "sqlite_errorname", "")
        return name.removeprefix("SQLITE_").startswith(REFUSALS)

    def _start_transaction_under_autocommit(self) -> None:
        self._begin_due = True

    def _begin(self) -> None:
        if not self._begin_due:
            return
        self._begin_due = False
        self._lock(fcntl.LOCK_EX)
        try:
            self.connection.execute(f"BEGIN {self.transaction_mode}")  # type: ignore[attr-defined]
        except BaseException:
            self._lock(fcntl.LOCK_UN)
            raise

    def _commit(self) -> None:
        super()._commit()
        self._end()

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]
        finally:
            self._end()

    def _close(self) -> None:
        super()._close()  # type: ignore[misc]
        self._begin_due = False
        if self._queue is not None:
            os.close(self._queue)
            self._queue = None

    def _end(self) -> None:
        self._begin_due = False
        self._lock(fcntl.LOCK_UN)

    def _lock(self, operation: int) -> None:
        if self._queue is not None:
            fcntl.flock(self._queue, operation)


def _open(path: str) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise sqlite3.OperationalError(f"can't open {path}: {error}") from error

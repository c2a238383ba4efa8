"""Django's SQLite backend with a queue for writers.

SQLite lets one writer in and the others poll: its busy handler sleeps up to 100 ms between looks,
so under load the lock is often free while everyone sleeps. Here a write transaction first takes a
file lock beside the database, which the kernel hands over at once. A process that dies releases it
by dying. It only orders the writers: SQLite's own lock still guards the data, also against
programs that know nothing of this one. See docs/decisions/0003-queue-for-sqlite-writers.md.
"""

import fcntl
import os
from typing import Any

from django.db.backends.sqlite3 import base


class DatabaseWrapper(base.DatabaseWrapper):
    _queue: int | None = None

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        connection = super().get_new_connection(conn_params)
        if not self.is_in_memory_db():
            path = f"{conn_params['database']}-writers"
            self._queue = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        return connection

    def _start_transaction_under_autocommit(self) -> None:
        self._lock(fcntl.LOCK_EX)
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
        except BaseException:
            self._lock(fcntl.LOCK_UN)
            raise

    def _commit(self) -> None:
        super()._commit()  # type: ignore[misc]
        self._lock(fcntl.LOCK_UN)

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]
        finally:
            self._lock(fcntl.LOCK_UN)

    def _close(self) -> None:
        super()._close()  # type: ignore[misc]
        if self._queue is not None:
            os.close(self._queue)
            self._queue = None

    def _lock(self, operation: int) -> None:
        if self._queue is not None:
            fcntl.flock(self._queue, operation)

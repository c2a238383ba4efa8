"""Django's MySQL backend with fewer round trips per request (docs/decisions/0010)."""

import time
from typing import Any

import MySQLdb
from django.db.backends.mysql import base

from runtime import away

CHECK_AGAIN_S = 1.0
SLOW_S = 1.0
"""A connection that fails after so long has waited for a server that doesn't answer."""


class DatabaseWrapper(base.DatabaseWrapper):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._checked_at = float("-inf")

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Connect; refuse at once if the server did not answer a moment ago."""
        server = away.of(f"{conn_params.get('host')}:{conn_params.get('port')}")
        if server.is_known:
            raise MySQLdb.OperationalError(f"{self.alias} did not answer a moment ago")
        started = time.monotonic()
        try:
            return super().get_new_connection(conn_params)
        except MySQLdb.OperationalError:
            if time.monotonic() > started + SLOW_S:
                server.note()
            raise

    def close_if_health_check_failed(self) -> None:
        """Check whether a kept connection is alive, at most once per second.

        A connection that dies in between fails one request and is replaced.
        """
        if time.monotonic() > self._checked_at + CHECK_AGAIN_S:
            super().close_if_health_check_failed()
            self._checked_at = time.monotonic()

    def _start_transaction_under_autocommit(self) -> None:
        """Begin with BEGIN: turning autocommit off and on again costs one more round trip."""
        with self.wrap_database_errors:
            self.connection.begin()

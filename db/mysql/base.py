"""Django's MySQL backend with fewer round trips per request (docs/decisions/0010)."""

import time
from typing import Any

from django.db.backends.mysql import base

CHECK_AGAIN_S = 1.0


class DatabaseWrapper(base.DatabaseWrapper):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._checked_at = float("-inf")

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

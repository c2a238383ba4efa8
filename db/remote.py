"""What the backends for databases on a server share: a breaker, fewer checks of connections."""

import time
from typing import Any

from db.outcomes import StoringWrapper
from runtime import away

CHECK_AGAIN_S = 1.0
SLOW_S = 1.0
"""A connection that fails after so long has waited for a server that doesn't answer."""


class RemoteWrapper(StoringWrapper):
    """Mixin of a DatabaseWrapper."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._checked_at = float("-inf")

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Connect; refuse at once if the server did not answer a moment ago."""
        wrapper: Any = self
        failure = wrapper.Database.OperationalError
        server = away.server(f"{conn_params.get('host')}:{conn_params.get('port')}")
        if server.refuses():
            raise failure(f"{wrapper.alias} did not answer a moment ago")
        started, answers = time.monotonic(), True
        try:
            connection = super().get_new_connection(conn_params)  # type: ignore[misc]
            wrapper.autocommit = False  # as drivers begin, until Django changes it
            return connection
        except failure:
            answers = time.monotonic() < started + SLOW_S
            raise
        finally:
            server.note(answers=answers)

    def close_if_health_check_failed(self) -> None:
        """Check whether a kept connection is alive, at most once per second.

        A connection that dies in between fails one request and is replaced. Django checks once per
        request; a command that computes for long may find its idle connection ended, too.
        """
        wrapper: Any = self
        if time.monotonic() > self._checked_at + CHECK_AGAIN_S:
            # Asking would begin a transaction where each statement does.
            wrapper.health_check_done = wrapper.in_atomic_block or not wrapper.autocommit
            super().close_if_health_check_failed()  # type: ignore[misc]
            self._checked_at = time.monotonic()

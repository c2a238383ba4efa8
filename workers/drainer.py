"""The outbox drainer: a loop that delivers the backlog, a batch at a time."""

import logging
import signal
import time
from collections.abc import Callable
from threading import Event
from typing import Any

from django.db import connection

from feed.delivery import deliver_pending
from feed.expiry import remove_when_due

logger = logging.getLogger(__name__)

RETRY_S = 0.5


class Drainer:
    """Delivers pending posts until ``stop`` is called; several drainers may run in parallel.

    ``work``: called with ``batch``, the most posts to claim; returns how many it claimed.
    ``idle_s``: seconds between polls while nothing is pending. ``linger_s``: seconds from one
    batch to the next, unless the claim was full; a larger batch costs less per post, because it
    touches a timeline once for many posts.
    """

    def __init__(
        self,
        *,
        batch: int,
        idle_s: float,
        linger_s: float,
        work: Callable[[int], int] = deliver_pending,
    ) -> None:
        self.batch = batch
        self.idle_s = idle_s
        self.linger_s = linger_s
        self._work = work
        self._stopping = Event()

    def stop(self, *args: Any) -> None:
        """Finish the current batch and return from ``run``. Also a signal handler."""
        self._stopping.set()

    def stop_on_signals(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.stop)

    def run(self) -> None:
        while not self._stopping.is_set():
            started = time.monotonic()
            claimed = self._try(lambda: self._work(self.batch))
            self._try(remove_when_due)
            self._stopping.wait(self._pause_s(claimed, started))

    def _pause_s(self, claimed: int, started: float) -> float:
        if claimed == self.batch:
            return 0
        if claimed == 0:
            return self.idle_s
        return max(0, started + self.linger_s - time.monotonic())

    def _try(self, work: Callable[[], int | None]) -> int:
        try:
            return work() or 0
        except Exception as error:  # no error ends a drainer
            logger.warning("trying again in %s s: %s", RETRY_S, error)
            connection.close()
            self._stopping.wait(RETRY_S)
            return 0

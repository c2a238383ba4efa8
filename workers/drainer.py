"""The outbox drainer: a loop that delivers the backlog, a batch at a time."""

import logging
import signal
import time
from collections.abc import Callable
from threading import Event
from typing import Any

from django.db import connection

from feed.delivery import deliver_pending

logger = logging.getLogger(__name__)

RETRY_S = 0.5


class Drainer:
    """Delivers pending posts until ``stop`` is called; several drainers may run in parallel.

    ``work``: called with the batch size; delivers up to that many posts and returns their number.
    ``batch``: most posts per transaction. ``idle_s``: seconds between polls while nothing is
    pending. ``linger_s``: seconds from one batch to the next, unless the batch was full; a larger
    batch costs less per post, because it touches a timeline once for many posts.
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
        self._size = batch
        """Posts per transaction at the moment: halved by an error, doubled by a success."""

    def stop(self, *args: Any) -> None:
        """Finish the current batch and return from ``run``. Also a signal handler."""
        self._stopping.set()

    def stop_on_signals(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.stop)

    def run(self) -> None:
        while not self._stopping.is_set():
            started, size = time.monotonic(), self._size
            delivered = self._deliver_batch()
            self._stopping.wait(self._pause_s(delivered, size, started))

    def _pause_s(self, delivered: int, size: int, started: float) -> float:
        if delivered == size:
            return 0
        if delivered == 0:
            return self.idle_s
        return max(0, started + self.linger_s - time.monotonic())

    def _deliver_batch(self) -> int:
        try:
            delivered = self._work(self._size)
        except Exception as error:  # no error ends a drainer
            self._size = max(1, self._size // 2)  # in case the batch takes longer than time-outs
            logger.warning("trying again in %s s: %s", RETRY_S, error)
            connection.close()
            self._stopping.wait(RETRY_S)
            return 0
        self._size = min(self.batch, 2 * self._size)
        return delivered

"""Notify the workers of new posts without making a request wait for the broker."""

import logging
import os
import time
from threading import Event, Lock, Thread

from workers.tasks import drain

logger = logging.getLogger(__name__)

AT_MOST_EVERY_S = 0.01


class Doorbell:
    """Enqueues ``workers.tasks.drain`` from a separate thread, at most once per 10 ms.

    The message carries no post and may be lost: the periodic sweep also finds the work.
    """

    def __init__(self) -> None:
        self._rung = Event()
        self._lock = Lock()
        self._pid: int | None = None

    def ring(self) -> None:
        """Request a drain; return at once."""
        self._rung.set()
        if self._pid != os.getpid():
            self._start()

    def _start(self) -> None:
        """Start the thread of this process; a forked process has none."""
        with self._lock:
            if self._pid != os.getpid():
                self._pid = os.getpid()
                Thread(target=self._run, name="doorbell", daemon=True).start()

    def _run(self) -> None:
        while self._rung.wait():
            self._rung.clear()
            try:
                drain.delay()
            except Exception:  # the broker's client may raise anything
                logger.warning("could not ring the doorbell", exc_info=True)
            time.sleep(AT_MOST_EVERY_S)

"""Notify the workers of new posts without making a request wait for the broker."""

import logging
import os
import time
from threading import Event, Lock, Thread

from workers.tasks import drain

logger = logging.getLogger(__name__)

AT_MOST_EVERY_S = 0.01


class Doorbell:
    """Rings ``workers.tasks.drain`` from a thread of its own, at most once per 10 ms.

    The message carries no post and may be lost: the periodic sweep finds the work all the same.
    """

    def __init__(self) -> None:
        self._rung = Event()
        self._lock = Lock()
        self._pid: int | None = None

    def ring(self) -> None:
        """Return at once."""
        self._rung.set()
        if self._pid != os.getpid():
            self._start()

    def _start(self) -> None:
        """Start the thread of this process; one that was forked has none."""
        with self._lock:
            if self._pid != os.getpid():
                self._pid = os.getpid()
                Thread(target=self._run, name="doorbell", daemon=True).start()

    def _run(self) -> None:
        while self._rung.wait():
            self._rung.clear()
            try:
                drain.delay()
            except Exception:  # whatever the broker's client raises
                logger.warning("the doorbell is out of order", exc_info=True)
            time.sleep(AT_MOST_EVERY_S)

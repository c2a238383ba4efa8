"""Messages to the queue, sent without making a request wait for its broker."""

import logging
import os
import time
from threading import Event, Lock, Thread
from typing import Any

from django.db import close_old_connections

from workers.queues import get_queue

logger = logging.getLogger(__name__)

MOST_WAITING = 1_000
"""Messages that wait in a process to be sent."""
PAUSE_AFTER_FAILURE_S = 1.0


class Messages:
    """Sends messages from a thread of its own, after each turn with a pause of ``pause_s``.

    A message may be lost: with its process, with the broker, or if MOST_WAITING others wait. The
    periodic sweep finds the work too.
    """

    def __init__(self, *, pause_s: float = 0.0) -> None:
        self._pause_s = pause_s
        self._waiting: dict[tuple[str, tuple[Any, ...]], None] = {}
        self._lock = Lock()
        self._rung = Event()
        self._pid: int | None = None

    def send(self, task: str, *arguments: Any) -> None:
        """Call a task soon, once if the same call waits already; return at once.

        ``arguments`` are hashable, for JSON.
        """
        with self._lock:
            if len(self._waiting) < MOST_WAITING:
                self._waiting[task, arguments] = None
            else:
                logger.warning("%d messages wait: the sweep does the work of another", MOST_WAITING)
            if self._pid != os.getpid():  # a forked process has no thread
                Thread(target=self._run, name="messages", daemon=True).start()
                self._pid = os.getpid()
        self._rung.set()

    def _run(self) -> None:
        while self._rung.wait():
            self._rung.clear()
            with self._lock:
                taken, self._waiting = self._waiting, {}
            try:
                for task, arguments in taken:
                    get_queue().send(task, arguments)
            except Exception:  # the queue's client may raise anything
                logger.warning(
                    "%d messages or fewer were not sent; the sweep does their work",
                    len(taken),
                    exc_info=True,
                )
                close_old_connections()  # where the queue is in the database
                time.sleep(PAUSE_AFTER_FAILURE_S)
            time.sleep(self._pause_s)

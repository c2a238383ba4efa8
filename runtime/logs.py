"""Logging in the background, and less of it."""

import atexit
import time
from logging import WARNING, Filter, Logger, LogRecord
from logging.handlers import QueueHandler, QueueListener
from queue import SimpleQueue
from typing import Any

MOST = 5
PER_S = 60.0


class Repeated(Filter):
    """Lets a line of code warn MOST times in PER_S; then it counts, and the next one tells.

    While a server is away, each request and each delivery would write a line or a traceback.
    """

    def __init__(self) -> None:
        super().__init__()
        self._windows: dict[tuple[str, int], list[float]] = {}
        """When the window of a line began, and how many warnings it has had since."""

    def filter(self, record: LogRecord) -> bool:
        if record.levelno < WARNING:
            return True
        now = time.monotonic()
        window = self._windows.setdefault((record.pathname, record.lineno), [now, 0])
        if now > window[0] + PER_S:
            if window[1] > MOST:
                record.msg = f"{record.msg} ({window[1] - MOST:.0f} more before)"
            window[:] = [now, 0]
        window[1] += 1
        return window[1] <= MOST


class WithoutTraceback(Filter):
    """Leaves a record's message, one line of it."""

    def filter(self, record: LogRecord) -> bool:
        record.exc_info = record.exc_text = None
        record.msg, record.args = " ".join(record.getMessage().split()), ()
        return True


def write_in_background(log: Logger) -> None:
    """Write the log's lines in a background thread, which finishes before the process exits."""
    lines: SimpleQueue[Any] = SimpleQueue()
    listener = QueueListener(lines, *log.handlers)
    log.handlers = [QueueHandler(lines)]
    listener.start()
    atexit.register(listener.stop)

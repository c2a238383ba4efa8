"""Logging in the background."""

import atexit
from logging import Logger
from logging.handlers import QueueHandler, QueueListener
from queue import SimpleQueue
from typing import Any


def write_in_background(log: Logger) -> None:
    """Write the log's lines in a background thread, which finishes before the process exits."""
    lines: SimpleQueue[Any] = SimpleQueue()
    listener = QueueListener(lines, *log.handlers)
    log.handlers = [QueueHandler(lines)]
    listener.start()
    atexit.register(listener.stop)

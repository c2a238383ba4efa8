"""Logging that a request doesn't wait for."""

import atexit
from logging import Logger
from logging.handlers import QueueHandler, QueueListener
from queue import SimpleQueue
from typing import Any


def write_in_background(log: Logger) -> None:
    """Let a thread of this process write what is logged from now on, to the last line."""
    lines: SimpleQueue[Any] = SimpleQueue()
    listener = QueueListener(lines, *log.handlers)
    log.handlers = [QueueHandler(lines)]
    listener.start()
    atexit.register(listener.stop)

"""Python imports this at its start: it makes Locust slow."""

import atexit
import signal
import sys
import time

AFTER_S, EVERY_S, BUSY_S = 1, 0.25, 0.24


def begin(*_):
    """Wait until Locust has started its users."""
    if "locustfiles.player" in sys.modules:
        signal.signal(signal.SIGALRM, burn)
        signal.setitimer(signal.ITIMER_REAL, AFTER_S, EVERY_S)


def burn(*_):
    until = time.monotonic() + BUSY_S
    while time.monotonic() < until:
        pass


if "locust" in sys.orig_argv:
    signal.signal(signal.SIGALRM, begin)
    signal.setitimer(signal.ITIMER_REAL, EVERY_S, EVERY_S)
    atexit.register(signal.setitimer, signal.ITIMER_REAL, 0)

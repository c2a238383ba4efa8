"""Python imports this at its start: it makes a Locust that has little time for its users."""

import atexit
import signal
import sys
import time

AFTER_S, EVERY_S, BUSY_S = 3, 0.25, 0.24


def burn(*_):
    until = time.monotonic() + BUSY_S
    while time.monotonic() < until:
        pass


if "locust" in sys.orig_argv:
    signal.signal(signal.SIGALRM, burn)
    signal.setitimer(signal.ITIMER_REAL, AFTER_S, EVERY_S)
    atexit.register(signal.setitimer, signal.ITIMER_REAL, 0)

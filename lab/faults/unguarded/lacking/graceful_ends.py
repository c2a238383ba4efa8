# mypy: ignore-errors
"""graceful ends: a process of the app server ends at once, whatever it has to answer."""

import os

from lab.faults.unguarded.switch import lacks
from web.gunicorn_worker import LoopWorker

_handle_exit = LoopWorker.handle_exit


def _end(self, *arguments):
    if lacks("graceful ends"):
        os._exit(0)
    _handle_exit(self, *arguments)


LoopWorker.handle_exit = _end

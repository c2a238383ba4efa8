# mypy: ignore-errors
"""Tasks that take 5 ms and note, in a file of the laboratory's, that they begin and end."""

import os
import time
from functools import cache
from importlib import import_module
from pathlib import Path

from django.apps import AppConfig

TASK_S = 0.005
FILE = Path(os.environ["HASHING_SLOTS_DIR"]).with_name("notes")


class Noting(AppConfig):
    name = "lab.faults.unguarded"

    def ready(self):
        """Replace the tasks, before a queue knows them."""
        import_module("workers.tasks").TASKS.update(deliver_post=deliver_post, sweep=sweep)


def deliver_post(post_id):
    _note(post_id, "begun")
    time.sleep(TASK_S)
    _note(post_id, "done")


def sweep(*_):
    """Look for no post; what the queue itself does at a sweep is its own."""
    import_module("workers.queues").get_queue().tidy()


def _note(post_id, what):
    os.write(_file(), f"{os.getpid()} {post_id} {what} {time.time()}\n".encode())


@cache
def _file():
    return os.open(FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

"""What a queue's workers are asked to do: functions of ids, which call the services."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from django.conf import settings
from django.db import close_old_connections

from feed.delivery import deliver_one, deliver_pending
from feed.expiry import remove_when_due
from workers.chunks import deliver_chunk, forget_finished_chunks
from workers.queues import get_queue

BATCH = 100
DRAIN_S = 5.0
"""A task that takes TASK_TIME_LIMIT_S is ended, with what it was to do at its end."""


def drain() -> None:
    """Deliver the backlog, and tidy up; the doorbell calls this when there is work.

    What comes after DRAIN_S is left to the messages of later posts, or to the sweep.
    """
    until = time.monotonic() + DRAIN_S
    while deliver_pending(BATCH) and time.monotonic() < until:
        pass
    remove_when_due()


def sweep(sent_at: float | None = None) -> None:
    """Deliver what a lost message or a dead worker left, and tidy up.

    ``sent_at``: seconds since 1970. A sweep waits in the queue like any message. If it starts
    within SWEEP_S, the queue is short: a post without a receipt for longer than that has lost its
    message. A later sweep does nothing.
    """
    if sent_at is not None and time.time() > sent_at + settings.SWEEP_S:
        return
    drain()
    forget_finished_chunks()
    get_queue().tidy()


TASKS: dict[str, Callable[..., None]] = {
    "deliver_post": deliver_one,
    "deliver_chunk": deliver_chunk,
    "drain": drain,
    "sweep": sweep,
}


def carry_out(task: str, arguments: Sequence[Any]) -> None:
    """Call one of TASKS, on a connection to the database that is usable and stays open."""
    close_old_connections()
    try:
        TASKS[task](*arguments)
    finally:
        close_old_connections()

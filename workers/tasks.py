"""Celery tasks: they carry ids, and call the services."""

import time

from celery import shared_task

from feed.delivery import deliver_one, deliver_pending
from feed.expiry import remove_when_due
from workers import chunks

BATCH = 100
DRAIN_S = 5.0
"""A task that takes TASK_TIME_LIMIT_S is killed, with what it was to do at its end."""


@shared_task
def deliver_post(post_id: int) -> None:
    """Deliver one post, unless it has its receipt."""
    deliver_one(post_id)


@shared_task
def deliver_chunk(post_id: int, number: int, owner_ids: list[int], timeline: str) -> None:
    """Deliver one post to some of its owners."""
    chunks.deliver_chunk(post_id, number, owner_ids, timeline)


@shared_task
def drain() -> None:
    """Deliver the backlog, and tidy up; the doorbell enqueues this when there is work.

    What comes after DRAIN_S is left to the messages of later posts, or to the sweep.
    """
    until = time.monotonic() + DRAIN_S
    while deliver_pending(BATCH) and time.monotonic() < until:
        pass
    remove_when_due()


@shared_task
def sweep() -> None:
    """Periodic sweep: deliver what a lost message or a dead worker left, and tidy up."""
    drain()
    chunks.forget_finished_chunks()

"""Celery tasks: they carry ids, and call the services."""

from celery import shared_task

from feed.delivery import deliver_one, deliver_pending
from feed.expiry import remove_when_due
from workers import chunks

BATCH = 100


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
    """Deliver the backlog; the doorbell enqueues this when there is work."""
    while deliver_pending(BATCH):
        pass


@shared_task
def sweep() -> None:
    """Periodic sweep: deliver what a lost message or a dead worker left, and tidy up."""
    drain()
    chunks.forget_finished_chunks()
    remove_when_due()

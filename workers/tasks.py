"""Celery tasks: they carry ids, and call the services."""

from celery import shared_task

from feed.delivery import deliver_one, deliver_pending

BATCH = 100


@shared_task
def deliver_post(post_id: int) -> None:
    """Deliver one post, unless it has its receipt."""
    deliver_one(post_id)


@shared_task
def drain() -> None:
    """Deliver the backlog: rung as a doorbell when there is work, and by the clock to be sure."""
    while deliver_pending(BATCH):
        pass

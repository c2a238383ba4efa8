"""Strategies that need Celery."""

from typing import Any

from django.conf import settings
from django.db import transaction

from feed.models import Post
from feed.strategies.base import Strategy
from feed.strategies.outbox import Outbox
from feed.timeline_stores import get_timeline_store
from runtime import away
from workers.chunks import plan_chunks
from workers.doorbell import Doorbell
from workers.tasks import deliver_chunk, deliver_post


class Task(Strategy):
    """One Celery task per post, enqueued on commit (the published system).

    A lost message leaves a post without a receipt, which the sweep delivers.
    """

    needs_shared_store = True
    needs_celery = True

    def publish(self, post: Post) -> None:
        transaction.on_commit(lambda: self._enqueue(post.id), robust=True)

    def _enqueue(self, post_id: int) -> None:
        _send(deliver_post, post_id)


class Chunked(Strategy):
    """One Celery task per 100 owners of a post's timelines (what the feed frameworks do)."""

    needs_shared_store = True
    needs_partial_delivery = True
    needs_celery = True
    writes_with_post = True

    def publish(self, post: Post) -> None:
        chunks = list(plan_chunks(post))
        transaction.on_commit(lambda: self._enqueue(post.id, chunks), robust=True)

    def _enqueue(self, post_id: int, chunks: list[tuple[int, list[int]]]) -> None:
        for number, owner_ids in chunks:
            _send(deliver_chunk, post_id, number, owner_ids, get_timeline_store().alias)


class RungOutbox(Outbox):
    """The outbox, with Celery workers as its drainers and the broker as their doorbell."""

    needs_drainer = False
    needs_celery = True

    def __init__(self, alias: str, *, grace_s: float = 0.0) -> None:
        super().__init__(alias, grace_s=grace_s)
        self.doorbell = Doorbell()

    def publish(self, post: Post) -> None:
        transaction.on_commit(self.doorbell.ring, robust=True)


def _send(task: Any, *arguments: Any) -> None:
    """Enqueue a task, unless the broker failed within the last second: the sweep delivers."""
    broker = away.of(settings.CELERY_BROKER_URL)
    if broker.is_known:
        return
    try:
        task.delay(*arguments)
    except Exception:  # the broker's client may raise anything
        broker.note()
        raise

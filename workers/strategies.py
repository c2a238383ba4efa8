"""Strategies that need Celery."""

from django.db import transaction

from feed.fanout.base import Fanout
from feed.fanout.outbox import Outbox
from feed.models import Post
from feed.timelines import get_timeline
from workers.chunks import plan_chunks
from workers.doorbell import Doorbell
from workers.tasks import deliver_chunk, deliver_post


class Task(Fanout):
    """One Celery task a post, enqueued on commit (the published system).

    A message that is lost leaves a post without a receipt, which the sweep finishes.
    """

    elsewhere = True

    def publish(self, post: Post) -> None:
        transaction.on_commit(lambda: self._enqueue(post.id), robust=True)

    def _enqueue(self, post_id: int) -> None:
        deliver_post.delay(post_id)


class Chunked(Fanout):
    """One Celery task per 100 owners of a post's timelines (what the feed frameworks do)."""

    elsewhere = True
    writes = True
    partial = True

    def publish(self, post: Post) -> None:
        chunks = list(plan_chunks(post))
        transaction.on_commit(lambda: self._enqueue(post.id, chunks), robust=True)

    def _enqueue(self, post_id: int, chunks: list[tuple[int, list[int]]]) -> None:
        for number, owner_ids in chunks:
            deliver_chunk.delay(post_id, number, owner_ids, get_timeline().alias)


class RungOutbox(Outbox):
    """The outbox, with Celery workers as its drainers and the broker as their doorbell."""

    def __init__(self, alias: str, *, grace_s: float = 0.0) -> None:
        super().__init__(alias, grace_s=grace_s)
        self.doorbell = Doorbell()

    def publish(self, post: Post) -> None:
        transaction.on_commit(self.doorbell.ring, robust=True)

"""Strategies that need Celery."""

from django.db import transaction

from feed.fanout.base import Fanout
from feed.fanout.outbox import Outbox
from feed.models import Post
from workers.doorbell import Doorbell
from workers.tasks import deliver_post


class Task(Fanout):
    """One Celery task a post, enqueued on commit (the published system).

    A message that is lost leaves a post without a receipt, which the drainer finishes.
    """

    elsewhere = True
    grace_s = 10.0

    def publish(self, post: Post) -> None:
        transaction.on_commit(lambda: deliver_post.delay(post.id) and None, robust=True)


class RungOutbox(Outbox):
    """The outbox, with Celery workers as its drainers and the broker as their doorbell."""

    def __init__(self, alias: str) -> None:
        super().__init__(alias)
        self.doorbell = Doorbell()

    def publish(self, post: Post) -> None:
        transaction.on_commit(self.doorbell.ring, robust=True)

"""Strategies that need a queue."""

from typing import Any

from django.db import transaction

from feed.models import Post
from feed.strategies.base import Strategy
from feed.timeline_stores import get_timeline_store
from workers.chunks import plan_chunks
from workers.messages import Messages
from workers.queues import get_queue, queues


class ByMessage(Strategy):
    """Sends messages to the queue's workers, once the post is committed.

    A lost message leaves a post without a receipt, which the sweep delivers.
    """

    needs_shared_store = True
    needs_queue = True

    def __init__(self, alias: str, *, grace_s: float = 0.0, pause_s: float = 0.0) -> None:
        super().__init__(alias, grace_s=grace_s)
        self._messages = Messages(pause_s=pause_s)

    def send(self, task: str, *arguments: Any) -> None:
        """Call a task after the commit, without waiting for the broker."""
        transaction.on_commit(lambda: self._messages.send(task, *arguments), robust=True)


class ByMessageEach(ByMessage):
    """Sends a post's messages in its transaction, if the queue is in the database."""

    def __init__(self, alias: str, *, grace_s: float = 0.0) -> None:
        super().__init__(alias, grace_s=grace_s)
        self._sends_with_post = queues.current_class.is_transactional
        self.writes_with_post = self.writes_with_post or self._sends_with_post

    def send(self, task: str, *arguments: Any) -> None:
        if self._sends_with_post:
            get_queue().send(task, arguments)
        else:
            super().send(task, *arguments)


class Task(ByMessageEach):
    """One task per post, enqueued on commit (the published system)."""

    def publish(self, post: Post) -> None:
        self.send("deliver_post", post.id)


class Chunked(ByMessageEach):
    """One task per 100 owners of a post's timelines (what the feed frameworks do)."""

    needs_partial_delivery = True
    writes_with_post = True

    def publish(self, post: Post) -> None:
        timeline = get_timeline_store().alias
        for number, owner_ids in plan_chunks(post):
            self.send("deliver_chunk", post.id, number, tuple(owner_ids), timeline)


class RungOutbox(ByMessage):
    """The outbox, with the queue's workers as its drainers and the queue as their doorbell."""

    def publish(self, post: Post) -> None:
        self.send("drain")

from django.db import transaction

from feed.delivery import deliver
from feed.models import Post
from feed.strategies.base import Strategy
from feed.timeline_stores import get_timeline_store


class Inline(Strategy):
    """Deliver in the request: in the post's own transaction, or right after its commit."""

    needs_drainer = True
    writes_with_post = True

    def publish(self, post: Post) -> None:
        if get_timeline_store().is_transactional:
            deliver([post])
        else:
            # The post is already committed. If delivery fails, it stays in the
            # backlog, and the drainer finishes it.
            transaction.on_commit(lambda: deliver([post]), robust=True)

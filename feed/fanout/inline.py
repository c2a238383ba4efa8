from django.db import transaction

from feed.delivery import deliver
from feed.fanout.base import Fanout
from feed.models import Post
from feed.timelines import get_timeline


class Inline(Fanout):
    """Deliver in the request: with the post's own transaction, or else right after its commit."""

    writes = True

    def publish(self, post: Post) -> None:
        if get_timeline().transactional:
            deliver([post])
        else:
            # The post is accepted whatever happens now: without a receipt it stays in the
            # backlog, and the drainer finishes it.
            transaction.on_commit(lambda: deliver([post]), robust=True)

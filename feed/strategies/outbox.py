from feed.models import Post
from feed.strategies.base import Strategy


class Outbox(Strategy):
    """Write the post and nothing else.

    The post is its own outbox entry: drainers claim posts without a receipt, many at a time
    (``feed.delivery.deliver_pending``).
    """

    needs_shared_store = True
    needs_drainer = True

    def publish(self, post: Post) -> None:
        pass

from feed.fanout.base import Fanout
from feed.models import Post


class Outbox(Fanout):
    """Write the post and nothing else.

    The post is its own outbox entry: drainers claim posts without a receipt, many at a time
    (``feed.delivery.deliver_pending``).
    """

    elsewhere = True

    def publish(self, post: Post) -> None:
        pass

from feed.fanout.base import Fanout
from feed.models import Post


class Null(Fanout):
    """Never deliver: the floor that shows what everything else costs."""

    def publish(self, post: Post) -> None:
        pass

from feed.models import Post
from feed.strategies.base import Strategy


class Null(Strategy):
    """Never deliver: the floor that shows what everything else costs."""

    delivers = False

    def publish(self, post: Post) -> None:
        pass

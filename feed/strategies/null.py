from feed.models import Post
from feed.strategies.base import Strategy


class Null(Strategy):
    """Never deliver: the baseline that shows the cost of delivery."""

    delivers = False

    def publish(self, post: Post) -> None:
        pass

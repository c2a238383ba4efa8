"""How many posts are delivered in one transaction."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate

from feed.friends import FriendCounts
from feed.models import Post

MOST_DELIVERIES = 2**18
"""In one transaction: 250 posts to 1,000 friends each are just below."""
_friends = FriendCounts(keep_s=3600)


class BatchSize:
    """Most posts per transaction of this process: halved by an error, doubled by a success.

    So a batch that takes longer than a time-out shrinks until it fits.
    """

    def __init__(self) -> None:
        self.posts = sys.maxsize

    @contextmanager
    def within(self, limit: int) -> Iterator[int]:
        """Yield how many posts to claim, at most ``limit``; learn from how that ends."""
        posts = min(limit, self.posts)
        try:
            yield posts
        except Exception:
            self.posts = max(1, posts // 2)
            raise
        if posts < limit:
            self.posts = 2 * posts


size = BatchSize()


def bounded(posts: Sequence[Post]) -> Sequence[Post]:
    """Return the first posts, at least one, that have at most MOST_DELIVERIES together."""
    friends = _friends.of(post.author_id for post in posts)
    deliveries = accumulate(friends[post.author_id] + 1 for post in posts)
    fitting = sum(total <= MOST_DELIVERIES for total in deliveries)
    return posts[: max(1, fitting)]

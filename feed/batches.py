"""How many posts are delivered in one transaction."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


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

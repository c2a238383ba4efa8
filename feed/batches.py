"""How many posts are delivered in one transaction."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate

from feed.models import Post
from feed.recipients import ReaderCounts
from runtime.remembered import Forgetful

MOST_DELIVERIES = 2**18
"""In one transaction: 250 posts to 1,000 friends each are just below."""
ENOUGH = 5_000
"""Deliveries of a batch whose time says how fast a process is."""
_readers = ReaderCounts(keep_s=3600)


class BatchSize(Forgetful):
    """Most posts per transaction of this process: halved by an error, doubled by a success.

    So a batch that takes longer than a time-out shrinks until it fits.
    """

    def forget(self) -> None:
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


class Pace(Forgetful):
    """How many deliveries this process makes per second at its best; None: not known yet."""

    def forget(self) -> None:
        self.per_s: float | None = None

    @contextmanager
    def of(self, posts: Sequence[Post]) -> Iterator[None]:
        """Learn from how long these posts take in the block, if they are enough to tell."""
        began_at = time.monotonic()
        yield
        deliveries = sum(_deliveries(posts))
        if deliveries >= ENOUGH:
            self.per_s = max(self.per_s or 0.0, deliveries / (time.monotonic() - began_at))


size = BatchSize()
pace = Pace()


def _deliveries(posts: Sequence[Post]) -> list[int]:
    readers = _readers.of(post.author_id for post in posts)
    return [readers[post.author_id] + 1 for post in posts]


def bounded(posts: Sequence[Post]) -> Sequence[Post]:
    """Return the first posts, at least one, that have at most MOST_DELIVERIES together."""
    fitting = sum(total <= MOST_DELIVERIES for total in accumulate(_deliveries(posts)))
    return posts[: max(1, fitting)]

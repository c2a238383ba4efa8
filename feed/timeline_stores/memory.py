from collections import defaultdict
from collections.abc import Sequence
from threading import Lock

from feed.models import Post
from feed.recipients import recipients_of
from feed.timeline_stores.base import TimelineStore


class Memory(TimelineStore):
    """Timelines in this process: for tests, and as an upper bound of a store's speed."""

    is_shared = False

    def __init__(self, alias: str) -> None:
        super().__init__(alias)
        self._timelines: defaultdict[int, set[int]] = defaultdict(set)
        self._lock = Lock()

    def deliver(self, posts: Sequence[Post]) -> None:
        for post, owners in zip(posts, recipients_of(posts), strict=True):
            with self._lock:
                for owner_id in owners.tolist():
                    self._timelines[owner_id].add(post.id)

    def page(self, owner_id: int, *, before: int | None = None, limit: int = 20) -> list[int]:
        ids = self.members(owner_id)
        if before is not None:
            ids = [post_id for post_id in ids if post_id < before]
        return sorted(ids, reverse=True)[:limit]

    def members(self, owner_id: int) -> list[int]:
        with self._lock:
            return list(self._timelines.get(owner_id, ()))

    def clear(self) -> None:
        with self._lock:
            self._timelines.clear()

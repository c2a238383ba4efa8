from collections.abc import Sequence

from feed.due import due_ids
from feed.models import Post
from feed.timeline_stores.base import Held, TimelineStore


class Pull(TimelineStore):
    """Writes nothing: a timeline is computed from the posts on each read."""

    is_transactional = True
    is_computed_on_read = True

    def deliver(self, posts: Sequence[Post]) -> None:
        pass

    def read(self, owner_id: int, *, before: int | None = None, limit: int = 20) -> Held:
        return Held(due_ids(owner_id, before=before, limit=limit), floor=0)

    def change(self, owner_ids: Sequence[int], *, through: int) -> None:
        pass

    def rebuild(self, owner_ids: Sequence[int]) -> None:
        pass

    def clear(self) -> None:
        pass

from collections.abc import Sequence

from django.db.models import Q, QuerySet

from accounts.models import Friendship
from feed.models import Post
from feed.timeline_stores.base import TimelineStore


class Pull(TimelineStore):
    """Writes nothing: a timeline is computed from the posts on each read."""

    is_transactional = True
    is_computed_on_read = True

    def deliver(self, posts: Sequence[Post]) -> None:
        pass

    def page(self, owner_id: int, *, before: int | None = None, limit: int = 20) -> list[int]:
        posts = _posts_due(owner_id)
        if before is not None:
            posts = posts.filter(id__lt=before)
        return list(posts.order_by("-id").values_list("id", flat=True)[:limit])

    def members(self, owner_id: int) -> list[int]:
        return list(_posts_due(owner_id).values_list("id", flat=True))

    def clear(self) -> None:
        pass


def _posts_due(owner_id: int) -> QuerySet[Post]:
    friends = Friendship.objects.filter(person_id=owner_id).values("friend_id")
    return Post.objects.filter(Q(author_id__in=friends) | Q(author_id=owner_id))

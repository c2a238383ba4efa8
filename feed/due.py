"""What the database knows of a timeline: the posts that are due in it.

Ids are read from the primary. A replica may lag: its answer would be stale for as long as a
timeline keeps it.
"""

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Max, Q

from accounts.models import Friendship
from feed.models import Post, PostQuerySet


def due_ids(owner_id: int, *, before: int | None = None, limit: int) -> list[int]:
    """Return the newest ``limit`` ids below ``before`` that are due, newest first."""
    posts = posts_due(owner_id).using(DEFAULT_DB_ALIAS)
    if before is not None:
        posts = posts.filter(id__lt=before)
    return list(posts.order_by("-id").values_list("id", flat=True)[:limit])


def posts_due(owner_id: int) -> PostQuerySet:
    """Return the posts of a person and of their friends, deleted ones too."""
    friends = Friendship.objects.filter(person_id=owner_id).values("friend_id")
    due = Q(author_id__in=friends) | Q(author_id=owner_id)
    return Post.objects.filter(due)


def newest_post_id() -> int:
    """Return the highest id of the committed posts; 0 without posts."""
    newest: int | None = Post.objects.using(DEFAULT_DB_ALIAS).aggregate(id=Max("id"))["id"]
    return newest or 0

"""Delivering posts: the one place where timelines are written and receipts are set."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models.functions import Now

from feed.models import Post
from feed.timelines import get_timeline


def deliver(posts: Sequence[Post]) -> None:
    """Put the posts into every timeline that they are due in, then set their receipts.

    Safe to repeat. The receipts are set only after the store has confirmed; if anything raises,
    the posts stay in the backlog.
    """
    with transaction.atomic():
        get_timeline().deliver(posts)
        Post.objects.pending().filter(id__in=[post.id for post in posts]).update(delivered_at=Now())


def deliver_pending(limit: int) -> int:
    """Claim up to ``limit`` posts of the backlog, oldest id first, and deliver them as one batch.

    Returns how many were delivered; 0 means that there was nothing to claim. The claim is the
    rows' locks (on SQLite the database's), held until the receipts commit: a process that dies
    releases its posts by dying, and no two processes claim the same post.
    """
    if not Post.objects.pending().exists():
        return 0  # don't take SQLite's write lock only to find nothing
    with transaction.atomic():
        backlog = Post.objects.pending().select_for_update(skip_locked=True).order_by("id")
        posts = list(backlog[:limit])
        if posts:
            deliver(posts)
    return len(posts)

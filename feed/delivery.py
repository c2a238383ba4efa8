"""Delivering posts: the one place where timelines are written and receipts are set."""

from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now

from feed.fanout import get_fanout
from feed.models import Post
from feed.signals import receipts_set
from feed.timelines import get_timeline


def deliver(posts: Sequence[Post]) -> None:
    """Put the posts into every timeline that they are due in, then set their receipts.

    Safe to repeat. The receipts are set only after the store has confirmed; if anything raises,
    the posts stay in the backlog.
    """
    with transaction.atomic():
        get_timeline().deliver(posts)
        set_receipts(posts)


def set_receipts(posts: Sequence[Post]) -> None:
    """Say that all deliveries of these posts are made and confirmed; a receipt never changes."""
    ids = [post.id for post in posts]
    count = Post.objects.pending().filter(id__in=ids).update(delivered_at=Now())
    receipts_set.send(Post, post_ids=ids, count=count)


def deliver_one(post_id: int) -> None:
    """Claim one post and deliver it; nothing is done if it has its receipt or another's claim."""
    with transaction.atomic():
        posts = Post.objects.pending().select_for_update(skip_locked=True).filter(id=post_id)
        deliver(list(posts))


def deliver_pending(limit: int) -> int:
    """Claim up to ``limit`` posts of the backlog, oldest id first, and deliver them as one batch.

    Posts that the strategy may still be delivering itself are left alone (``Fanout.grace_s``).

    Returns how many were delivered; 0 means that there was nothing to claim. The claim is the
    rows' locks (on SQLite the database's), held until the receipts commit: a process that dies
    releases its posts by dying, and no two processes claim the same post.
    """
    backlog = Post.objects.pending()
    if get_fanout().grace_s:
        backlog = backlog.filter(created_at__lt=Now() - timedelta(seconds=get_fanout().grace_s))
    if not backlog.exists():
        return 0  # don't take SQLite's write lock only to find nothing
    with transaction.atomic():
        claim = backlog.select_for_update(skip_locked=True).only("id", "author_id")
        posts = list(claim.order_by("id")[:limit])
        if posts:
            deliver(posts)
    return len(posts)

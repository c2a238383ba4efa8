"""Delivering posts: the one place where timelines are written and receipts are set."""

from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now

from feed import statements
from feed.models import Post
from feed.signals import receipts_set
from feed.strategies import get_strategy
from feed.timeline_stores import get_timeline_store


def deliver(posts: Sequence[Post]) -> None:
    """Put the posts into every timeline that they are due in, then set their receipts.

    Safe to repeat. The receipts are set only after the store has confirmed; if anything raises,
    the posts stay in the backlog.
    """
    with transaction.atomic(savepoint=False):  # an exception ends the caller's transaction too
        get_timeline_store().deliver(posts)
        set_receipts(posts)


def set_receipts(posts: Sequence[Post]) -> None:
    """Set the receipts of posts whose deliveries are all confirmed; a receipt never changes."""
    ids = [post.id for post in posts]
    if not ids:
        return
    count = statements.set_receipts(ids)
    receipts_set.send(Post, post_ids=ids, count=count)


def deliver_one(post_id: int) -> None:
    """Claim one post and deliver it, unless it has its receipt or is claimed already."""
    with transaction.atomic():
        posts = Post.objects.pending().select_for_update(skip_locked=True).filter(id=post_id)
        deliver(list(posts))


def deliver_pending(limit: int) -> int:
    """Claim up to ``limit`` posts of the backlog, oldest id first, and deliver them as one batch.

    Skip posts that the strategy may still be delivering itself (``Strategy.grace_s``).

    Returns the number of delivered posts; 0 means that there was nothing to claim. The claim is the
    rows' locks (on SQLite the database's), held until the receipts commit: a process that dies
    releases its posts, and no two processes claim the same post.
    """
    backlog = Post.objects.pending()
    if get_strategy().grace_s:
        backlog = backlog.filter(created_at__lt=Now() - timedelta(seconds=get_strategy().grace_s))
    if not backlog.exists():
        return 0  # avoid SQLite's write lock when there is no work
    with transaction.atomic():
        claim = backlog.select_for_update(skip_locked=True).only("id", "author_id")
        posts = list(claim.order_by("id")[:limit])
        if posts:
            deliver(posts)
    return len(posts)

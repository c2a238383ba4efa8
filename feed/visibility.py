"""Who may read whose posts: the one place that decides it (docs/decisions/0045).

``FEED_VISIBILITY=everyone``: everyone, but of private people their readers; ``friends``: the author
and their readers. Either way, two people of whom one has blocked the other see nothing of each
other. Feeds need no condition: they hold posts of whom one reads only, and whoever ends that gets
the answer when the timelines have changed (``feed.follows``).
"""

from typing import cast

from django.conf import settings

from accounts.blocks import unblocked
from feed.models import PostQuerySet

EVERYONE, FRIENDS = POLICIES = ("everyone", "friends")
TO_READERS = """
    feed_post.author_id = %s OR EXISTS (
        SELECT 1 FROM accounts_follow
         WHERE author_id = feed_post.author_id AND reader_id = %s
    )
"""
PUBLIC = """
    NOT EXISTS (SELECT 1 FROM accounts_person WHERE id = feed_post.author_id AND is_private)
"""


def visible(posts: PostQuerySet, viewer_id: int) -> PostQuerySet:
    """Return those of the posts that a person may read, by a condition in the same statement."""
    if settings.FEED_VISIBILITY == FRIENDS:
        posts = _where(posts, TO_READERS, viewer_id)
    elif settings.FEED_EDGES == "follows":
        posts = _where(posts, f"{PUBLIC} OR {TO_READERS}", viewer_id)
    return cast("PostQuerySet", unblocked(posts, viewer_id, "author_id"))


def _where(posts: PostQuerySet, condition: str, viewer_id: int) -> PostQuerySet:
    found = posts.extra(where=[condition], params=[viewer_id, viewer_id])  # noqa: S610
    return cast("PostQuerySet", found)

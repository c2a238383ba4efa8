"""Who may read whose posts: the one place that decides it (docs/decisions/0045).

``FEED_VISIBILITY=everyone``: everyone; ``friends``: the author and their friends. Either way, two
people of whom one has blocked the other see nothing of each other. Feeds need no condition: they
hold posts of friends only, and whoever ends a friendship gets the answer when the timelines have
changed (``feed.friendships``).
"""

from typing import cast

from django.conf import settings

from accounts.blocks import unblocked
from feed.models import PostQuerySet

EVERYONE, FRIENDS = POLICIES = ("everyone", "friends")
OF_FRIENDS = """
    (feed_post.author_id = %s OR EXISTS (
        SELECT 1 FROM accounts_friendship
         WHERE person_id = %s AND friend_id = feed_post.author_id
    ))
"""


def visible(posts: PostQuerySet, viewer_id: int) -> PostQuerySet:
    """Return those of the posts that a person may read, by a condition in the same statement."""
    if settings.FEED_VISIBILITY == FRIENDS:
        posts = _of_friends(posts, viewer_id)
    return cast("PostQuerySet", unblocked(posts, viewer_id, "author_id"))


def _of_friends(posts: PostQuerySet, viewer_id: int) -> PostQuerySet:
    found = posts.extra(where=[OF_FRIENDS], params=[viewer_id, viewer_id])  # noqa: S610
    return cast("PostQuerySet", found)

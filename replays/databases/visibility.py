"""Who may read whose posts, where they are read from a replica."""

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS

from accounts.follows import author_ids
from accounts.models import Block
from feed import visibility
from feed.models import PostQuerySet


def visible(posts: PostQuerySet, viewer_id: int) -> PostQuerySet:
    """Return those of the posts that a person may read.

    A replica may not have the newest blocks and friendships: the primary is asked for them first.
    """
    if not settings.REPLICAS:
        return visibility.visible(posts, viewer_id)
    if settings.FEED_VISIBILITY == visibility.FRIENDS:
        authors = author_ids(viewer_id).using(DEFAULT_DB_ALIAS)
        posts = posts.filter(author_id__in=[viewer_id, *authors])
    blocks = Block.objects.using(DEFAULT_DB_ALIAS)
    mine = blocks.filter(person_id=viewer_id).values_list("other_id", flat=True)
    of_me = blocks.filter(other_id=viewer_id).values_list("person_id", flat=True)
    return posts.exclude(author_id__in=[*mine, *of_me])

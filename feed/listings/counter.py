from django.db.models import F

from feed.listings.base import Listing
from feed.models import Post, PostQuerySet


class Counter(Listing):
    """Reads the counts that the likes keep, in the order of their index."""

    def counted(self) -> PostQuerySet:
        return Post.objects.live().annotate(likes=F("like_count"))


class Keyset(Counter):
    """Goes on from the last post's position, which no page is too deep for."""

    keyset = True

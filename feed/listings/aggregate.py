from django.db.models import Count

from feed.listings.base import Listing
from feed.models import Post, PostQuerySet


class Aggregate(Listing):
    """Counts every post's likes for every page: the published baseline."""

    def counted(self) -> PostQuerySet:
        return Post.objects.live().annotate(likes=Count("liked_by__person_id"))

from collections.abc import Sequence

from feed.models import BulkEntry, Post
from feed.timeline_stores.rowwise import CopyingStore, missing_entries, owners_of


class Bulk(CopyingStore):
    """The rows of ``rowwise``, but one ``bulk_create`` per post."""

    model = BulkEntry

    accepts_partial_delivery = True

    def deliver(self, posts: Sequence[Post]) -> None:
        for post in posts:
            self.deliver_to(post, owners_of(post))

    def deliver_to(self, post: Post, owner_ids: Sequence[int]) -> None:
        BulkEntry.objects.bulk_create(missing_entries(BulkEntry, post, owner_ids))

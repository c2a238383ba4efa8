from collections.abc import Sequence

from feed.models import BulkEntry, Post
from feed.timelines.rowwise import missing_entries
from feed.timelines.sql import SQLTimeline


class Bulk(SQLTimeline):
    """The rows of ``rowwise``, but one ``bulk_create`` a post."""

    model = BulkEntry

    def deliver(self, posts: Sequence[Post]) -> None:
        for post in posts:
            BulkEntry.objects.bulk_create(missing_entries(BulkEntry, post))

from collections.abc import Sequence

from feed.models import BulkEntry, Post
from feed.timeline_stores.rowwise import CopyingStore

STATEMENT_BYTES = 2**19
"""Half of the smallest ``max_allowed_packet`` that servers come with."""
ROW_BYTES = 64
"""Of a statement, for each row beside its text."""


class Bulk(CopyingStore):
    """The rows of ``rowwise``, but one INSERT per post, or a few for long texts."""

    model = BulkEntry

    def deliver_to(self, post: Post, owner_ids: Sequence[int]) -> None:
        row_bytes = ROW_BYTES + 2 * len(post.body.encode())  # each byte may have to be escaped
        missing = self.missing_entries(post, owner_ids)
        BulkEntry.objects.bulk_create(missing, batch_size=max(1, STATEMENT_BYTES // row_bytes))

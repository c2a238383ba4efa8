from collections.abc import Iterator, Sequence
from typing import ClassVar

from feed.celebrities import deliverable
from feed.models import CopiedEntry, Post, RowwiseEntry
from feed.timeline_stores.sql import RowStore


class CopyingStore(RowStore):
    """Rows with a copy of the post's text."""

    model: ClassVar[type[CopiedEntry]]

    accepts_partial_delivery = True

    def deliver(self, posts: Sequence[Post]) -> None:
        for post in posts:
            self.deliver_to(post, owners_of(post))

    def missing_entries(self, post: Post, owner_ids: Sequence[int]) -> Iterator[CopiedEntry]:
        """Yield the missing rows of a post, unsaved; none if it has been delivered."""
        delivered = set(self.model.objects.filter(post=post).values_list("owner_id", flat=True))
        for owner_id in owner_ids:
            if owner_id not in delivered:
                yield self.entry(owner_id, post)

    def entry(self, owner_id: int, post: Post) -> CopiedEntry:
        return self.model(owner_id=owner_id, post=post, body=post.body)


class Rowwise(CopyingStore):
    """One ORM save per delivery, each with a copy of the post's text: the published baseline.

    The cost: 501 statements per post, and a text that must be erased 501 times.
    """

    model = RowwiseEntry

    def deliver_to(self, post: Post, owner_ids: Sequence[int]) -> None:
        for entry in self.missing_entries(post, owner_ids):
            entry.save(force_insert=True)


def owners_of(post: Post) -> list[int]:
    friends = deliverable().filter(person_id=post.author_id).values_list("friend_id", flat=True)
    return [post.author_id, *friends]

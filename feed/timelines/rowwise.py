from collections.abc import Iterator, Sequence

from accounts.models import Friendship
from feed.models import CopiedEntry, Post, RowwiseEntry
from feed.timelines.sql import SQLTimeline


class Rowwise(SQLTimeline):
    """One ORM save a delivery, each with a copy of the post's text: the published baseline.

    What it teaches: 501 statements a post, and a text that has to be erased 501 times.
    """

    model = RowwiseEntry

    def deliver(self, posts: Sequence[Post]) -> None:
        for post in posts:
            for entry in missing_entries(RowwiseEntry, post):
                entry.save(force_insert=True)


def missing_entries(model: type[CopiedEntry], post: Post) -> Iterator[CopiedEntry]:
    """Yield the unsaved rows that a post still lacks: none when it is delivered again."""
    owners = Friendship.objects.filter(person_id=post.author_id).values_list("friend_id", flat=True)
    delivered = set(model.objects.filter(post=post).values_list("owner_id", flat=True))
    for owner_id in [post.author_id, *owners]:
        if owner_id not in delivered:
            yield model(owner_id=owner_id, post=post, body=post.body)

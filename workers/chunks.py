"""A post's deliveries in chunks; the last delivered chunk sets the receipt."""

from collections.abc import Iterator, Sequence

from django.db import transaction

from accounts.models import Follow
from feed import epochs
from feed.delivery import deliver_one, set_receipts
from feed.models import Post
from feed.recipients import owners_of
from feed.timeline_stores import get_timeline_store
from workers.models import Chunk

OWNERS_PER_CHUNK = 100


def plan_chunks(post: Post) -> Iterator[tuple[int, list[int]]]:
    """Insert the chunks of a post in the caller's transaction; yield (number, owner ids)."""
    owners = owners_of(post)
    starts = range(0, len(owners), OWNERS_PER_CHUNK)
    Chunk.objects.bulk_create(Chunk(post=post, number=n) for n in range(len(starts)))
    for number, start in enumerate(starts):
        yield number, owners[start : start + OWNERS_PER_CHUNK]


def deliver_chunk(post_id: int, number: int, owner_ids: Sequence[int], timeline: str) -> None:
    """Deliver a post to some of its owners. Safe to repeat.

    ``timeline`` is the store that the chunks were planned for. If it has been switched since, the
    whole post goes into the new store: some of its chunks may be in the old one.
    """
    if timeline != get_timeline_store().alias:
        deliver_one(post_id)
        return
    with epochs.changing(), transaction.atomic():
        # The lock serializes the chunks of a post: of two concurrent ones, neither would see that
        # the other's row is gone.
        post = Post.objects.pending().select_for_update().filter(id=post_id).first()
        if post:
            store = get_timeline_store()
            epochs.confirm(store)
            store.deliver_to(post, _still_due(post, owner_ids))
            _finish(post, number)


def _still_due(post: Post, owner_ids: Sequence[int]) -> list[int]:
    """Return the owners who still read the author: the message may be hours old."""
    follows = Follow.objects.filter(author_id=post.author_id, reader_id__in=owner_ids)
    now = {post.author_id, *follows.values_list("reader_id", flat=True)}
    return [owner_id for owner_id in owner_ids if owner_id in now]


def forget_finished_chunks() -> None:
    """Remove the chunks of posts that the sweep finished because a message was lost."""
    Chunk.objects.filter(post__delivered_at__isnull=False).delete()


def _finish(post: Post, number: int) -> None:
    Chunk.objects.filter(post=post, number=number).delete()
    if not Chunk.objects.filter(post=post).exists():
        set_receipts([post])

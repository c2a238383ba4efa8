"""Posts for the bench: written before anything is timed, and remembered until they are checked."""

from collections.abc import Iterator, Sequence
from datetime import datetime

import numpy as np
from django.db import connection, transaction
from django.db.models import Max
from django.utils import timezone

from db.rows import insert_rows
from feed.models import Post
from feed.recipients import Ids

BODY = "What people write is about this long, as far as anybody has counted; a picture is a link."


def make_posts(author_ids: Ids) -> list[Post]:
    """Write a post of each author, with ascending ids."""
    newest, now = Post.objects.aggregate(id=Max("id"))["id"] or 0, timezone.now()
    pairs = list(enumerate(author_ids.tolist(), start=newest + 1))
    _insert(pairs, now)
    return [
        Post(id=post_id, author_id=author_id, body=BODY, created_at=now)
        for post_id, author_id in pairs
    ]


def _insert(pairs: Sequence[tuple[int, int]], now: datetime) -> None:
    created_at = connection.ops.adapt_datetimefield_value(now)
    columns = ("id", "author_id", "body", "created_at", "like_count")
    with transaction.atomic():
        insert_rows(Post, columns, [(*pair, BODY, created_at, 0) for pair in pairs])


def in_batches(posts: Sequence[Post], size: int) -> Iterator[Sequence[Post]]:
    for start in range(0, len(posts), size):
        yield posts[start : start + size]


class Delivered:
    """The posts that a store was given since it was empty, oldest first."""

    def __init__(self) -> None:
        self._pairs: list[tuple[int, int]] = []

    def add(self, posts: Sequence[Post]) -> None:
        self._pairs += [(post.id, post.author_id) for post in posts]

    def ids_and_authors(self) -> tuple[Ids, Ids]:
        pairs = np.array(self._pairs, np.int64).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]

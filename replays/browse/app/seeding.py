"""Bulk seeding of posts and likes."""

from collections.abc import Iterator

import numpy as np
from django.db import connection, transaction
from numpy.typing import NDArray

from accounts.models import Person
from db.rows import insert_rows
from feed.delivery import deliver
from feed.models import Post
from replays.browse.app.models import Like

POSTS_A_BATCH = 500
LIKES_A_BATCH = 20_000
SEED = 7
BODY = 3 * "Post {0} of the seed: somebody looked out of the window and wrote down what there was. "
"""A text of about 250 characters."""


def seed_likes(*, posts: int, likes: int) -> Iterator[float]:
    """Write posts 1 … ``posts``, deliver them, and like them at random, in one transaction.

    Yields the share done (0 … 1). Raises ValueError, having changed nothing, if there are posts
    already, no people, or fewer pairs of a post and a person than likes.
    """
    people = np.array(Person.objects.order_by("id").values_list("id", flat=True), np.int64)
    if Post.objects.exists():
        raise ValueError("there are posts already; empty the database first (manage.py flush)")
    if not people.size or not 0 <= likes <= posts * people.size:
        raise ValueError(f"{people.size} people can't give {likes} likes to {posts} posts")
    random = np.random.default_rng(SEED)
    pairs = np.sort(random.choice(posts * people.size, likes, replace=False))
    liked, liker = np.divmod(pairs, people.size)
    authors = random.choice(people, posts)
    with transaction.atomic():
        for done in _write_posts(authors, np.bincount(liked, minlength=posts)):
            yield done / 2
        for done in _write_likes(np.column_stack((liked + 1, people[liker]))):
            yield 0.5 + done / 2


def drop_index_of_counts() -> None:
    """Drop what the published tables did not have.

    MariaDB would read the posts by that index, and group them in a temporary table: more than
    three times the work.
    """
    (index,) = (index for index in Post._meta.indexes if index.name == "post_by_likes")
    with connection.schema_editor() as editor:
        editor.remove_index(Post, index)


def _write_posts(authors: NDArray[np.int64], likes: NDArray[np.int64]) -> Iterator[float]:
    rows = list(zip(authors.tolist(), likes.tolist(), strict=True))
    for start in range(0, len(rows), POSTS_A_BATCH):
        part = enumerate(rows[start : start + POSTS_A_BATCH], start + 1)
        batch = [
            Post(id=post_id, author_id=author_id, body=BODY.format(post_id), like_count=count)
            for post_id, (author_id, count) in part
        ]
        deliver(Post.objects.bulk_create(batch))
        yield (start + len(batch)) / len(rows)
    insert_rows(Post, ("id",), [])  # the next id follows those that were given


def _write_likes(rows: NDArray[np.int64]) -> Iterator[float]:
    for start in range(0, len(rows), LIKES_A_BATCH):
        insert_rows(Like, ("post_id", "person_id"), rows[start : start + LIKES_A_BATCH].tolist())
        yield min(start + LIKES_A_BATCH, len(rows)) / len(rows)

"""Bulk seeding of posts with past dates, delivered."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import numpy as np
from django.db import connection, transaction

from accounts.models import Person
from db.rows import insert_rows
from feed.delivery import deliver_pending
from feed.models import Post

FIRST = datetime(2025, 1, 1, tzinfo=UTC)
BATCH = 500
WORDS = "the a of to and cat sea tea rain = + - @ walked wrote saw made one two red blue".split()
WORDS_A_POST = 20


def seed_posts(*, each: int, days: int, seed: int) -> Iterator[float]:
    """Write ``each`` posts per person on average, evenly over days from 2025 on, and deliver them.

    The same arguments give the same posts. Yields the share done (0 … 1). Raises ValueError,
    having changed nothing, if there are posts already or no people.
    """
    if Post.objects.exists():
        raise ValueError("there are posts already; empty the database first (manage.py flush)")
    people = list(Person.objects.order_by("id").values_list("id", flat=True))
    if not people:
        raise ValueError("there are no people; manage.py seed_people writes some")
    posts = each * len(people)
    with transaction.atomic():
        _insert_posts(people, posts, timedelta(days=days) / max(1, posts), seed)
    done = 0
    while claimed := deliver_pending(BATCH):
        done = min(done + claimed, posts)
        yield done / posts


def _insert_posts(people: list[int], posts: int, step: timedelta, seed: int) -> None:
    random = np.random.default_rng(seed)
    authors = random.choice(people, posts).tolist()
    words = random.choice(WORDS, (posts, WORDS_A_POST)).tolist()
    adapt = connection.ops.adapt_datetimefield_value
    rows = [
        (author, " ".join(body), adapt(FIRST + number * step), 0)
        for number, (author, body) in enumerate(zip(authors, words, strict=True))
    ]
    insert_rows(Post, ("author_id", "body", "created_at", "like_count"), rows)

"""Queries behind exports and the report."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import CharField, Count, QuerySet
from django.db.models.functions import Cast, Substr

from feed.due import posts_due
from feed.models import Post
from feed.timeline import read_page
from feed.timeline_stores import get_timeline_store
from replays.databases.visibility import visible
from replays.export.app.expensive import give_back_connection
from replays.export.app.models import ExportJob

CHUNK = 900
"""Posts in memory at a time; from 1,000 ids on MariaDB creates a temporary table."""


class Row(NamedTuple):
    id: int
    author: int
    created_at: datetime
    body: str


def exported_rows(person_id: int) -> Iterator[list[Row]]:
    """Yield a person's whole feed and all their own posts, each once, newest first, in chunks.

    Chunks continue by id, so posts written meanwhile are not included.
    """
    ids = _newest_ids(person_id, before=None)
    while ids:
        # By their ids: see hydration.py.
        posts = visible(Post.objects.filter(id__in=ids), person_id).order_by("-id")
        fields = ("deleted_at", "id", "author_id", "created_at", "body")
        yield [Row(*row) for deleted_at, *row in posts.values_list(*fields) if deleted_at is None]
        ids = _newest_ids(person_id, before=ids[-1])


def reach_by_month(person_id: int) -> QuerySet[Any, Any]:
    """Count the posts of a person's feed by author and month, and how often each was delivered.

    Counts a row per delivery to a friend: this is expensive on purpose.
    """
    return (
        visible(posts_due(person_id).live(), person_id)
        .annotate(month=Substr(Cast("created_at", CharField(max_length=26)), 1, 7))
        .values("author_id", "month")
        .annotate(posts=Count("id", distinct=True), deliveries=Count("author__readers__reader"))
        .order_by("author_id", "month")
    )


def export_job(*, person_id: int, job_id: int) -> ExportJob:
    """Return one's own job. Raises ExportJob.DoesNotExist."""
    return ExportJob.objects.get(id=job_id, person_id=person_id)


def _newest_ids(person_id: int, *, before: int | None) -> list[int]:
    """Return the newest ids of timeline and own posts together, newest first."""
    own = Post.objects.filter(author_id=person_id).order_by("-id").values_list("id", flat=True)
    if before is not None:
        own = own.filter(id__lt=before)
    timeline = read_page(get_timeline_store(), person_id, before=before, limit=CHUNK).ids
    give_back_connection()  # ids of timelines are read from the primary (feed/due.py)
    return sorted({*timeline, *own[:CHUNK]}, reverse=True)[:CHUNK]

"""What the database knows of a timeline: the posts that are due in it.

Ids are read from the primary. A replica may lag: its answer would be stale for as long as a
timeline keeps it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from math import sqrt
from threading import BoundedSemaphore

from django.db import DEFAULT_DB_ALIAS, OperationalError, connections
from django.db.models import Max, Q

from accounts.follows import author_ids
from accounts.ids import MAX_ID
from accounts.models import Person
from feed.models import Post, PostQuerySet
from runtime.remembered import Remembered

FEW_PEOPLE = 2000
"""With fewer people, everybody's posts are gone through quickly anyway."""
MOST_AUTHORS = 5000
"""In one statement, by their ids."""
MOST_AT_ONCE = 4
"""Timelines that a process computes at the same time; other threads wait."""
LONGEST_WAIT_S = 1.0
DUE = "SELECT id FROM feed_post WHERE {authors} AND id < %s ORDER BY {order} DESC LIMIT %s"
"""Plain SQL: Django's compiler took longer than the database. An expression as the order keeps the
database from going through the primary key."""
OF_AUTHORS = (
    "(author_id = %s OR author_id IN (SELECT author_id FROM accounts_follow WHERE reader_id = %s))"
)
_places = BoundedSemaphore(MOST_AT_ONCE)


class TooManyTimelinesComputed(OperationalError):
    """Other threads of the process compute as many timelines as may be at a time."""


@contextmanager
def _place() -> Iterator[None]:
    if not _places.acquire(timeout=LONGEST_WAIT_S):
        raise TooManyTimelinesComputed(f"no place was free for {LONGEST_WAIT_S:g} s")
    try:
        yield
    finally:
        _places.release()


@_place()
def due_ids(owner_id: int, *, before: int | None = None, limit: int) -> list[int]:
    """Return the newest ``limit`` ids below ``before`` that are due, newest first.

    The newest posts of all authors are gone through until enough are due, unless those write
    so small a share of them that going through all that they ever wrote is quicker. Raises
    TooManyTimelinesComputed after a wait of LONGEST_WAIT_S.
    """
    few = _few_authors(owner_id, limit)
    if few:
        authors, order = f"author_id IN ({', '.join(['%s'] * len(few))})", "id + 0"
    else:
        authors, order = OF_AUTHORS, "id"
    values = [*(few or (owner_id, owner_id)), MAX_ID if before is None else before, limit]
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(DUE.format(authors=authors, order=order), values)
        return [post_id for (post_id,) in cursor.fetchall()]


def _few_authors(owner_id: int, limit: int) -> list[int] | None:
    """Return a person and those whom they read, if these have probably written few posts.

    Of N posts, A authors of the people have written about F = N * A / people. Going through all N
    until ``limit`` are found takes limit * N / F posts, going through theirs takes F.
    """
    people, posts = _sizes.get()
    # The two are equal at F² = limit * N.
    most = int(people * sqrt(limit / max(1, posts)))
    if people < FEW_PEOPLE or not most:
        return None
    most = min(most, MOST_AUTHORS)
    authors = [owner_id, *author_ids(owner_id).using(DEFAULT_DB_ALIAS)[:most]]
    return authors if len(authors) <= most else None


def _ask_sizes() -> tuple[int, int]:
    """Return the highest ids of people and posts, which decide between two plans."""
    people = Person.objects.using(DEFAULT_DB_ALIAS).aggregate(id=Max("id"))["id"] or 0
    return people, newest_post_id()


_sizes = Remembered(_ask_sizes, for_s=60.0)


def posts_due(owner_id: int) -> PostQuerySet:
    """Return the posts of a person and of those whom they read, deleted ones too."""
    due = Q(author_id__in=author_ids(owner_id)) | Q(author_id=owner_id)
    return Post.objects.filter(due)


def newest_post_id() -> int:
    """Return the highest id of the committed posts; 0 without posts."""
    newest: int | None = Post.objects.using(DEFAULT_DB_ALIAS).aggregate(id=Max("id"))["id"]
    return newest or 0

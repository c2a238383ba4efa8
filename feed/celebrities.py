"""Celebrities: posts of people with very many readers are merged when feeds are read.

Their posts are delivered to themselves only. So nobody else's post waits behind a hundred thousand
deliveries, and no call blocks a store for long. Nothing that a reader may see depends on when an
author crosses the threshold (docs/decisions/0058):

- ENTERING: readers merge the author's posts, which are still delivered too.
- PULLED: readers merge them, and they are delivered to nobody else.
- LEAVING: they are delivered again, and still merged; then everything so far is left to the
  database in the timelines of their readers, as after an unfollow.

A post that is delivered and merged too is shown once.
"""

from collections.abc import Collection, Sequence
from datetime import timedelta
from math import inf

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.models import Count, QuerySet
from django.db.models.functions import Now

from accounts.follows import reader_ids, renew_versions
from accounts.ids import MAX_ID
from accounts.models import Follow, Person
from feed import epochs, readers
from feed.models import Celebrity
from feed.timeline_stores.base import TimelineStore
from runtime.remembered import Pause, Remembered

AUTO = "auto"
"""Value of FEED_PULL_ABOVE: so many as this process delivers to within FEED_PULL_LAG_MS."""
ENTERING_S = 1.5
"""Until every process knows of one."""
LOOK_EVERY_S = 600.0
LEAVE_BELOW = 0.8
"""Share of the threshold below which an author is delivered again."""
MOST_AT_ONCE = 5000
"""Timelines that are changed together."""
NEWEST = "(SELECT id FROM feed_post WHERE author_id = %s AND id < %s ORDER BY id DESC LIMIT %s)"
AMONG = "SELECT author_id FROM accounts_follow WHERE reader_id = %s AND author_id IN ({})"


def _ask() -> frozenset[int]:
    rows = Celebrity.objects.using(DEFAULT_DB_ALIAS).values_list("person_id", flat=True)
    return frozenset(rows)


_merged = Remembered(_ask, for_s=1.0)
_pause = Pause()
"""Between looks for people who cross the threshold."""


def forget() -> None:
    """Read the celebrities again when they are next needed."""
    _merged.forget()


def merged() -> frozenset[int]:
    """Return the authors whose posts readers merge, as it was at most a second ago.

    To be called before the timeline is read.
    """
    return _merged.get()


def merge(
    owner_id: int, ids: Sequence[int], authors: Collection[int], *, before: int | None, limit: int
) -> list[int]:
    """Return a page with the newest ids of a timeline and of those celebrities whom they read.

    ``ids``: the timeline's, newest first, ``limit`` of them or all.
    """
    read = _read_among(owner_id, authors) if authors else []
    if not read:
        return list(ids)
    end = MAX_ID if before is None else before
    values = [value for author in read for value in (author, end, limit)]
    newest = " UNION ALL ".join(
        f"SELECT id FROM {NEWEST} newest{number}"  # noqa: S608  numbers of our own
        for number in range(len(read))
    )
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(newest, values)
        found = {post_id for (post_id,) in cursor.fetchall()}
    return sorted(found.union(ids), reverse=True)[:limit]


def _read_among(owner_id: int, authors: Collection[int]) -> list[int]:
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        marks = ", ".join(["%s"] * len(authors))
        cursor.execute(AMONG.format(marks), [owner_id, *authors])
        return [author_id for (author_id,) in cursor.fetchall()]


def deliverable() -> QuerySet[Follow]:
    """Return the follows along which posts are delivered."""
    along = readers.to_active_readers()
    if not merged():
        return along
    return along.exclude(author_id__in=pulled().values("person_id"))


def pulled() -> QuerySet[Celebrity]:
    """Return the celebrities whose posts are not delivered to their readers."""
    return Celebrity.objects.filter(state=Celebrity.State.PULLED)


def continue_crossings(store: TimelineStore, *, per_s: float | None = None) -> None:
    """Look for people who cross the threshold, now and then, and finish crossings.

    A process with another store than the epoch's leaves that to others. ``per_s``: deliveries per
    second of this process, if known; for the threshold "auto".
    """
    if epochs.get_or_begin(store).store != store.alias:
        return
    if _pause.is_over():
        begin_crossings(store, per_s=per_s)
    if not merged():
        return
    long_ago = Now() - timedelta(seconds=ENTERING_S)
    entering = Celebrity.objects.filter(state=Celebrity.State.ENTERING, changed_at__lt=long_ago)
    for author_id in entering.values_list("person_id", flat=True):
        _move(author_id, Celebrity.State.ENTERING, Celebrity.State.PULLED)
    leaving = Celebrity.objects.filter(state=Celebrity.State.LEAVING)
    for author_id in leaving.values_list("person_id", flat=True):
        _leave(store, author_id)


def begin_crossings(store: TimelineStore, *, per_s: float | None = None) -> None:
    """Begin to move the people who have crossed the threshold, up or down."""
    above = _threshold(store, per_s)
    if above is None:
        return
    _pause.begin(LOOK_EVERY_S)
    counted = (
        readers.to_active_readers().values_list("author_id").annotate(readers=Count("reader_id"))
    )
    if above:
        known = Celebrity.objects.values("person_id")
        found = counted.filter(readers__gt=above).exclude(author_id__in=known)
        Celebrity.objects.bulk_create(
            (Celebrity(person_id=person_id) for person_id, _ in found), ignore_conflicts=True
        )
    at_most = above * LEAVE_BELOW if above else inf
    count = dict(counted.filter(author_id__in=pulled().values("person_id")))
    for author_id in pulled().values_list("person_id", flat=True):
        if count.get(author_id, 0) <= at_most:
            _move(author_id, Celebrity.State.PULLED, Celebrity.State.LEAVING)
    forget()


def _threshold(store: TimelineStore, per_s: float | None) -> int | None:
    """Return the most readers of somebody whose posts are delivered; 0: any, None: not known."""
    if store.is_computed_on_read:
        return 0
    if settings.FEED_PULL_ABOVE != AUTO:
        return int(settings.FEED_PULL_ABOVE)
    return None if per_s is None else int(per_s * settings.FEED_PULL_LAG_MS / 1000)


def _move(author_id: int, before: str, after: str) -> None:
    """Change how an author's posts are delivered from the next post on.

    Renewing the version waits for their posts that are being written and delivered in one
    transaction, and makes all processes read the recipients again.
    """
    with transaction.atomic():
        renew_versions(Person.objects.filter(id=author_id))
        of_author = Celebrity.objects.filter(person_id=author_id, state=before)
        of_author.update(state=after, changed_at=Now())


def _leave(store: TimelineStore, author_id: int) -> None:
    """Leave everything so far to the database in the timelines of an author's readers."""
    last = 0
    of_author = reader_ids(author_id).order_by("reader_id")
    while owner_ids := list(of_author.filter(reader_id__gt=last)[:MOST_AT_ONCE]):
        epochs.change(store, owner_ids)
        last = owner_ids[-1]
    Celebrity.objects.filter(person_id=author_id, state=Celebrity.State.LEAVING).delete()
    forget()

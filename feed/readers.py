"""Who reads: with FEED_ACTIVE_DAYS, nothing is delivered to those who haven't read for so long.

The number of days belongs to the epoch, since a timeline that was not delivered to must not be
trusted when it changes. A person who returns is delivered to first. Then everything so far is left
to the database in their timeline, as after an unfollow (docs/decisions/0023).
"""

from datetime import UTC, date, datetime, timedelta

from django.db import DEFAULT_DB_ALIAS, OperationalError
from django.db.models import QuerySet

from accounts.follows import author_ids, renew_versions
from accounts.models import Follow, Person
from feed import epochs
from feed.models import Reader
from feed.timeline_stores.base import TimelineStore

_noted: dict[tuple[int, date], set[int]] = {}
"""Readers whom this process has noted, by number of the epoch and day; only the latest are kept."""


def note_read(store: TimelineStore, person_id: int) -> bool:
    """Note that somebody reads; tell whether their timeline in the store may be read.

    It may not if the database takes no writes.
    """
    epoch = epochs.get_or_begin(store)
    if not epoch.active_days:
        return True
    period = (epoch.number, _today())
    if period not in _noted:
        _noted.clear()
    noted = _noted.setdefault(period, set())
    if person_id not in noted:
        try:
            if not _note(person_id, epoch.active_days):
                _return(store, person_id)
        except OperationalError:
            return False
        noted.add(person_id)
    return True


def delivered_since() -> date | None:
    """Return since which day a person must have read to be delivered to; None: everyone is.

    A day more than readers count on, for clocks that differ and for batches on their way.
    """
    days = epochs.active_days()
    return _today() - timedelta(days=days + 1) if days else None


def to_active_readers() -> QuerySet[Follow]:
    """Return the follows by those people whose timelines are delivered to."""
    since = delivered_since()
    if since is None:
        return Follow.objects.all()
    readers = Reader.objects.filter(read_on__gte=since)
    return Follow.objects.filter(reader_id__in=readers.values("person_id"))


def is_active(person_id: int) -> bool:
    """Tell whether a person's timeline is delivered to and may be read."""
    days = epochs.active_days()
    return not days or _active(days).filter(person_id=person_id).exists()


def _active(days: int) -> QuerySet[Reader]:
    readers = Reader.objects.using(DEFAULT_DB_ALIAS)
    return readers.filter(read_on__gte=_today() - timedelta(days=days), is_returning=False)


def _note(person_id: int, days: int) -> bool:
    """Note an active person as a reader of today; tell whether they are active."""
    read_on = _active(days).filter(person_id=person_id).values_list("read_on", flat=True).first()
    if read_on and read_on < _today():
        return bool(_active(days).filter(person_id=person_id).update(read_on=_today()))
    return read_on is not None


def _return(store: TimelineStore, person_id: int) -> None:
    """Deliver to a person again, and leave everything before to the database."""
    _begin_to_deliver(person_id)
    epochs.change(store, [person_id])
    Reader.objects.filter(person_id=person_id).update(is_returning=False)


def _begin_to_deliver(person_id: int) -> None:
    """Commit that a person returns; a process that dies afterwards leaves the rest to another.

    Only then those whom they read are looked up, on the primary: whom they follow later has a
    version under which they are delivered to already. Renewing the versions waits for posts of
    these authors that are being written and delivered in one transaction.
    """
    returning = {"read_on": _today(), "is_returning": True}
    Reader.objects.update_or_create(person_id=person_id, defaults=returning)
    authors = author_ids(person_id).using(DEFAULT_DB_ALIAS)
    renew_versions(Person.objects.filter(id__in=list(authors)))


def _today() -> date:
    return datetime.now(UTC).date()

"""What is removed when its time has come."""

from datetime import timedelta

from django.conf import settings
from django.db.models import Count
from django.db.models.functions import Now

from accounts import limits, revocations, sessions
from accounts.limits import Limited, Use
from db.rows import delete_first
from feed import journal
from feed.models import IdempotencyKey
from feed.timeline_stores import get_timeline_store
from runtime.remembered import Pause

EVERY_S = 60.0
TURN = Use("remove expired", burst=1, per_s=1 / EVERY_S)
MOST_KEYS = 1_000
"""Idempotency keys per person; older ones are removed before their time."""
SAMPLE = 1_000

_pause = Pause()


def remove_expired() -> bool:
    """Remove some of everything that has expired; return whether there is more."""
    age = timedelta(seconds=settings.IDEMPOTENCY_KEEP_S)
    old_keys = IdempotencyKey.objects.filter(created_at__lt=Now() - age)
    there_is_more = [
        delete_first(old_keys, "created_at"),
        limits.remove_expired(),
        revocations.remove_expired(),
        sessions.remove_expired(),
        delete_first(journal.old_steps(), "number"),
        get_timeline_store().remove_unread(),
    ]
    remove_surplus_keys()
    return any(there_is_more)


def remove_when_due() -> None:
    """Remove what has expired, once per minute in one of all processes."""
    if not _pause.is_over():
        return
    _pause.begin(EVERY_S)
    try:
        limits.take_all([TURN])
    except Limited:
        return
    if remove_expired():
        limits.give_back_all([TURN])
        _pause.forget()


def remove_surplus_keys() -> None:
    """Remove the oldest idempotency keys of people who have too many.

    Only the authors of the newest keys are looked at: whoever uses very many is soon among them.
    """
    newest = IdempotencyKey.objects.order_by("-created_at").values_list("author_id", flat=True)
    counted = IdempotencyKey.objects.filter(author_id__in=set(newest[:SAMPLE]))
    counts = counted.values("author_id").annotate(keys=Count("key_sha256"))
    for author_id in counts.filter(keys__gt=MOST_KEYS).values_list("author_id", flat=True):
        own = IdempotencyKey.objects.filter(author_id=author_id)
        kept = own.order_by("-created_at").values_list("created_at", flat=True)[MOST_KEYS - 1]
        own.filter(created_at__lt=kept).delete()

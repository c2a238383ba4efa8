"""Epochs: which timeline store belongs to the database, since when (docs/decisions/0041).

A receipt is worth as much as the store that it was given for. Timelines belong to an epoch, whose
number is in the store's keys: with a new one all are absent, and are computed again when they are
read. A new epoch begins by command when another store is chosen, and by itself when the store was
lost or is older or newer than the database. Nobody uses a store while an epoch begins.
"""

import logging
import secrets
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS, IntegrityError, OperationalError, transaction
from django.db.models.functions import Now

from accounts.ids import MAX_ID
from feed.due import newest_post_id
from feed.models import Epoch, Post, TimelineFloor
from feed.statements import wait_for_posts_in_flight
from feed.timeline_stores import get_timeline_store, timeline_stores
from feed.timeline_stores.base import TimelineStore
from runtime.remembered import Remembered

logger = logging.getLogger(__name__)

CLOSED_S = 1.5
"""Seconds before a new epoch begins, so that no process trusts the one before any more."""
ABANDONED_S = 10
"""Seconds after which somebody else finishes the beginning of an epoch."""
NOTED_S = 1.0
"""Seconds for which a process needn't note another change."""
DOUBTED_S = 2 * NOTED_S
"""So much longer than receipts are changes doubted: they are noted less precisely."""


class StoreUnusable(OperationalError):
    """Nothing may be delivered: the store is another one than the epoch's, or was lost."""


def _read() -> Epoch | None:
    return Epoch.objects.using(DEFAULT_DB_ALIAS).first()


_known = Remembered(_read, for_s=1.0)


def forget() -> None:
    """Read the epoch again when it is next needed."""
    _known.forget()


def get_or_begin(store: TimelineStore) -> Epoch:
    """Return the epoch, as it was at most a second ago; the first use of a store begins one."""
    return _get() or _begin_first(store)


def get_store() -> TimelineStore:
    """Return the store that has the timelines, which may be another one than the setting names.

    Raises StoreUnusable if it has left the settings: no change may count as made in it.
    """
    alias = get_or_begin(get_timeline_store()).store
    try:
        return timeline_stores[alias]
    except (ImproperlyConfigured, ImportError) as error:
        gone = f"the timelines are in the store {alias!r}, which isn't there any more"
        raise StoreUnusable(f"{gone} ({error}): run manage.py begin_epoch") from error


def active_days() -> int:
    """Return how long ago people may have read last to be delivered to; 0: everyone is."""
    epoch = _get()
    return epoch.active_days if epoch else settings.FEED_ACTIVE_DAYS


def _get() -> Epoch | None:
    epoch = _known.get()
    if epoch is None or epoch.closed_at:  # the next one may begin right after
        forget()
    return epoch


def is_usable(store: TimelineStore) -> bool:
    """Tell whether timelines may be read from this store."""
    return reason_unusable(store) is None


def confirm(store: TimelineStore) -> None:
    """Make sure that the store is usable, as far as this process knows. Raises StoreUnusable.

    To be called before delivering posts that are either committed or in the caller's transaction.
    """
    if reason := reason_unusable(store):
        raise StoreUnusable(reason)


def change(store: TimelineStore, owner_ids: Collection[int]) -> None:
    """Leave everything so far to the database, in the timelines of these owners.

    A batch may still be on its way to them that knows nothing of what has just been committed. It
    holds only posts that were committed before, and so none above the newest one now.
    """
    with changing():
        store.change(sorted(owner_ids), through=newest_post_id())


@contextmanager
def changing() -> Iterator[None]:
    """Note, before and after, that timelines change without a receipt that could be taken back."""
    _note_change()
    yield
    _note_change()


_note_change = Remembered(lambda: Epoch.objects.update(changed_at=Now()), for_s=NOTED_S).get


def wait_for_deliveries(through: int = MAX_ID) -> None:
    """Wait for those who deliver posts up to this id, and let none begin in this transaction.

    Whoever delivers a post has its row locked: it is claimed, or not committed yet. (Posts that are
    delivered right after their commit, into Redis, need no waiting.)
    """
    pending = Post.objects.using(DEFAULT_DB_ALIAS).pending().filter(id__lte=through)
    list(pending.order_by("id").select_for_update().values_list("id", flat=True))


def reason_unusable(store: TimelineStore) -> str | None:
    """Return why a store can't be used in this epoch; None if it can."""
    epoch = get_or_begin(store)
    if epoch.store != store.alias:
        return (
            f"the timelines are in the store {epoch.store!r}, and this process uses "
            f"{store.alias!r}: run manage.py begin_epoch, or set FEED_TIMELINE_STORE"
        )
    if epoch.closed_at is not None:
        return "a new epoch is about to begin"
    if not store.servers.are(epoch.server):
        return "the server of the timelines was restarted or replaced"
    return None


def renew_if_lost(store: TimelineStore) -> None:
    """Begin a new epoch if the store was lost, or is newer than the database."""
    epoch = get_or_begin(store)
    if epoch.store != store.alias:
        return
    if epoch.closed_at is not None:
        since = Now() - timedelta(seconds=ABANDONED_S)
        if not Epoch.objects.filter(closed_at__lt=since).exists():
            return
    successor = store.servers.successor(epoch.server)
    if epoch.closed_at is None and successor and not store.is_ahead_of_database():
        if _go_on(epoch, *successor):
            return
        successor = None  # what was there is of no use any more
    logger.error("the timelines don't belong to the database any more: beginning a new epoch")
    begin(store, epoch)
    if not successor:
        store.remove_epoch(epoch.number)


def _go_on(epoch: Epoch, server: str, lost_s: float) -> bool:
    """Note that the server goes by another id, and deliver again what it may have lost.

    Others use it from then on: a later receipt is worth what it says. Returns False, and notes
    nothing, if it may have lost a change: no receipt tells which timelines that was in.
    """
    if server == epoch.server:
        return True
    with transaction.atomic():
        same = Epoch.objects.filter(number=epoch.number, server=epoch.server)
        doubted = Now() - timedelta(seconds=lost_s + DOUBTED_S)
        if lost_s and same.filter(changed_at__gt=doubted).exists():
            logger.warning("a replica was promoted, and may lack changes of timelines")
            return False
        if same.update(server=server) and lost_s:
            since = Now() - timedelta(seconds=lost_s)
            count = Post.objects.filter(delivered_at__gt=since).update(delivered_at=None)
            logger.warning("a replica was promoted: %d posts are delivered again", count)
    forget()
    return True


def begin(store: TimelineStore, old: Epoch | None = None) -> Epoch:
    """Begin a new epoch with this store: every timeline is absent, and the database answers.

    ``old``: which one it is to follow, unless another one does already; the present one if None.
    Returns the epoch before. Its timelines stay where they are: on the same server they may belong
    to another copy of this database (``TimelineStore.remove_epoch``).
    """
    old = old or _read() or _begin_first(store)
    Epoch.objects.filter(number=old.number).update(closed_at=Now())
    time.sleep(CLOSED_S)
    wait_for_posts_in_flight()
    with transaction.atomic():
        wait_for_deliveries()
        if not Epoch.objects.filter(number=old.number).update(**_values(store), closed_at=None):
            return old  # somebody else was faster
        TimelineFloor.objects.all().delete()
        store.begin()
    forget()
    return old


def _values(store: TimelineStore) -> dict[str, Any]:
    return {
        "number": secrets.randbits(32),
        "store": store.alias,
        "server": store.servers.identity(),
        "floor": newest_post_id(),
        "shards": settings.FEED_SHARDS or store.suitable_shards(),
        "active_days": settings.FEED_ACTIVE_DAYS,
    }


def _begin_first(store: TimelineStore) -> Epoch:
    try:
        with transaction.atomic():
            is_new = not Post.objects.exclude(delivered_at=None).exists()
            floor = {"floor": 0} if is_new else {}  # nothing went into another store
            return Epoch.objects.create(**_values(store) | floor)
    except IntegrityError:
        return Epoch.objects.using(DEFAULT_DB_ALIAS).get()

"""Counts deliveries when posts get their receipts, and loads of timelines."""

import logging
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from threading import Lock, Timer
from typing import Any, NamedTuple

from django.db import DatabaseError, connection, transaction

from feed.models import Post
from feed.recipients import ReaderCounts
from feed.strategies import get_strategy
from feed.timeline_stores import get_timeline_store
from metrics import definitions
from metrics.connections import count_connections

logger = logging.getLogger(__name__)

COUNT_AFTER_S = 0.5


class Batch(NamedTuple):
    """Posts that were delivered together; the latest ``new`` receipts are new."""

    post_ids: Sequence[int]
    new: int


class Receipt(NamedTuple):
    at: datetime
    author_id: int
    lag_s: float


class Tally:
    """Counts the deliveries of half a second with two queries, in a separate thread.

    A query per post would cost a request more than its own INSERT. A process that exits normally
    first counts the rest; a killed process loses its last half second.
    """

    def __init__(self) -> None:
        self._batches: list[Batch] = []
        self._readers = ReaderCounts()
        self._lock = Lock()

    def note(self, batch: Batch) -> None:
        """Schedule a batch for counting; return at once."""
        with self._lock:
            self._batches.append(batch)
            if len(self._batches) == 1:
                Timer(COUNT_AFTER_S, self._count).start()

    def _count(self) -> None:
        count_connections()  # before this thread opens its own
        with self._lock:
            batches, self._batches = self._batches, []
        try:
            observe(batches, self._readers)
        except DatabaseError:
            posts = sum(batch.new for batch in batches)
            logger.warning("%s posts aren't counted", posts, exc_info=True)
        finally:
            connection.close()


def observe(batches: Sequence[Batch], readers: ReaderCounts) -> None:
    labels = get_strategy().alias, get_timeline_store().alias
    receipts = _receipts([post_id for batch in batches for post_id in batch.post_ids])
    new = [receipt for batch in batches for receipt in _latest(batch, receipts)]
    counts = readers.of(receipt.author_id for receipt in new)
    definitions.posts_delivered.labels(*labels).inc(len(new))
    definitions.deliveries.labels(*labels).inc(
        sum(counts[receipt.author_id] + 1 for receipt in new)
    )
    lag_seconds = definitions.lag_seconds.labels(*labels)
    for receipt in new:
        lag_seconds.observe(receipt.lag_s)


def _latest(batch: Batch, receipts: dict[int, Receipt]) -> list[Receipt]:
    """Return the new receipts: older ones are already counted."""
    of_batch = [receipts[post_id] for post_id in batch.post_ids if post_id in receipts]
    return sorted(of_batch, reverse=True)[: batch.new]


def _receipts(post_ids: Sequence[int]) -> dict[int, Receipt]:
    posts = Post.objects.filter(id__in=post_ids)
    rows = posts.values_list("id", "author_id", "created_at", "delivered_at")
    return {
        post_id: Receipt(at, author_id, (at - created_at).total_seconds())
        for post_id, author_id, created_at, at in rows
        if at
    }


def count_load(store: str, **kwargs: Any) -> None:
    """Signal receiver of ``timeline_loaded``."""
    definitions.timeline_loads.labels(store).inc()


_tally = Tally()


def note_receipts(post_ids: Sequence[int], count: int, **kwargs: Any) -> None:
    """Signal receiver of ``receipts_set``."""
    transaction.on_commit(partial(_tally.note, Batch(post_ids, count)), robust=True)

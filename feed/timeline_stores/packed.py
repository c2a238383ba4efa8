from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
from django.db import connection, transaction
from django.db.models import BinaryField
from django.db.models.functions import Right

from feed.models import PackedTimeline
from feed.recipients import Ids
from feed.timeline_stores.packing import ID_BYTES, pack, page_of, unpack
from feed.timeline_stores.shards import by_owner
from feed.timeline_stores.sql import SQLStore
from feed.timeline_stores.trimmed import Deliveries, TrimmedStore

PORTION = 1000
"""Owners per statement, so that it stays within MySQL's packet size."""


class Packed(TrimmedStore, SQLStore):
    """One row per person with their newest post ids, packed as in ``ring``.

    A batch writes one row per owner, whatever its length. The row is written whole, so single
    posts are expensive. Rows are locked before they are written, in the same order by all writers:
    the database appends ids above the newest of a row; others are merged.
    """

    model = PackedTimeline

    def page(self, owner_id: int, *, before: int | None = None, limit: int = 20) -> list[int]:
        def newest(count: int) -> Ids:
            return unpack(_newest_ids([owner_id], count).get(owner_id, b""))

        return page_of(newest, self.capacity, before=before, limit=limit)

    def members(self, owner_id: int) -> list[int]:
        ids: list[int] = unpack(_newest_ids([owner_id], self.capacity).get(owner_id, b"")).tolist()
        return ids

    def write(self, deliveries: Deliveries) -> None:
        additions = list(by_owner(deliveries).items())
        with transaction.atomic(savepoint=False):
            for start in range(0, len(additions), PORTION):
                self._add(dict(additions[start : start + PORTION]))

    def _add(self, additions: Mapping[int, bytes]) -> None:
        """Add ids to the timelines of some owners."""
        newest = self._lock(additions)
        in_order = {owner for owner, ids in additions.items() if _last(newest[owner]) < _first(ids)}
        self._append({owner: ids for owner, ids in additions.items() if owner in in_order})
        self._merge({owner: ids for owner, ids in additions.items() if owner not in in_order})

    def _lock(self, owner_ids: Collection[int]) -> dict[int, bytes]:
        """Lock the rows of these owners, creating missing ones; return the newest id of each."""
        newest = _locked(owner_ids)
        missing = [owner_id for owner_id in owner_ids if owner_id not in newest]
        if missing:
            # Concurrent writers may do the same. With INSERT IGNORE both would take shared locks
            # of the rows, and wait for each other to write.
            self._append(dict.fromkeys(missing, b""))
            newest |= _locked(missing)
        return newest

    def _append(self, additions: Mapping[int, bytes]) -> None:
        size = self.capacity * ID_BYTES
        rows = [f"({owner_id},X'{ids[-size:].hex()}')" for owner_id, ids in additions.items()]
        if rows:
            with connection.cursor() as cursor:
                cursor.execute(_statements().append.format(",".join(rows)), [size])

    def _merge(self, additions: Mapping[int, bytes]) -> None:
        """Add ids that may be older than those in the timelines, or already there."""
        held = _newest_ids(additions, self.capacity)
        merged = [
            PackedTimeline(owner_id=owner_id, post_ids=self._united(held[owner_id], ids))
            for owner_id, ids in additions.items()
        ]
        PackedTimeline.objects.bulk_update(merged, ["post_ids"])

    def _united(self, held: bytes, ids: bytes) -> bytes:
        return pack(np.union1d(unpack(held), unpack(ids))[-self.capacity :]).tobytes()


class _Statements(NamedTuple):
    """Statements with inlined values: thousands of parameters would take most of the time."""

    lock: str
    append: str
    """The rows exist: this INSERT updates many rows at once, each with its own value."""


_LOCK = (
    "SELECT owner_id, RIGHT(post_ids, %s) FROM feed_timeline_packed"
    " WHERE owner_id IN ({}) FOR UPDATE"
)
_SQL = {
    "mariadb": _Statements(
        _LOCK,
        "INSERT INTO feed_timeline_packed (owner_id, post_ids) VALUES {}"
        " ON DUPLICATE KEY UPDATE post_ids = RIGHT(CONCAT(post_ids, VALUES(post_ids)), %s)",
    ),
    "mysql": _Statements(  # VALUES() is deprecated there
        _LOCK,
        "INSERT INTO feed_timeline_packed (owner_id, post_ids) VALUES {} AS added"
        " ON DUPLICATE KEY UPDATE post_ids ="
        " RIGHT(CONCAT(feed_timeline_packed.post_ids, added.post_ids), %s)",
    ),
    "sqlite": _Statements(  # its write transactions lock the whole database
        "SELECT owner_id, substr(post_ids, -%s) FROM feed_timeline_packed WHERE owner_id IN ({})",
        "INSERT INTO feed_timeline_packed (owner_id, post_ids) VALUES {}"
        " ON CONFLICT (owner_id) DO UPDATE SET"
        " post_ids = substr(CAST(post_ids || excluded.post_ids AS BLOB), -%s)",
    ),
}


def _statements() -> _Statements:
    mariadb = getattr(connection, "mysql_is_mariadb", False)
    return _SQL["mariadb" if mariadb else connection.vendor]


def _locked(owner_ids: Collection[int]) -> dict[int, bytes]:
    with connection.cursor() as cursor:
        statement = _statements().lock.format(",".join(map(str, owner_ids)))
        cursor.execute(statement, [ID_BYTES])
        return {owner_id: newest or b"" for owner_id, newest in cursor.fetchall()}


def _newest_ids(owner_ids: Collection[int], count: int) -> dict[int, bytes]:
    """Return the packed newest ids of the owners that have a timeline."""
    newest = Right("post_ids", count * ID_BYTES, output_field=BinaryField())
    rows = PackedTimeline.objects.filter(owner_id__in=owner_ids)
    return {owner_id: ids or b"" for owner_id, ids in rows.values_list("owner_id", newest)}


def _first(ids: bytes) -> int:
    return int.from_bytes(ids[:ID_BYTES], "little")


def _last(ids: bytes) -> int:
    """Return the last of packed ids; 0 if there is none."""
    return int.from_bytes(ids[-ID_BYTES:], "little")

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction

from feed import epochs
from feed.due import due_ids
from feed.models import Post, Segment
from feed.recipients import Deliveries, Ids, deliveries_of
from feed.timeline_stores.base import ALL, Held, Page, TimelineStore
from feed.timeline_stores.packing import ID_BYTES, pack, unpack
from feed.timeline_stores.rule import MOST_ID
from feed.timeline_stores.shards import by_owner

ROW_BYTES = 60
"""What a row takes beside its ids, with its entry of the index."""
STATEMENT_BYTES = 2**22
MOST_KEYS = 1_000
"""Rows that one statement deletes."""


class Segments(TimelineStore):
    """Timelines with a row for each batch, its ids packed. Rows are added, and merged later.

    A timeline is all ids of its rows above its floor. Each delivery merges the rows of some of its
    owners, chosen at random, so often that the other rows of a timeline take about as much room as
    the merged one. Ids beyond the capacity are dropped then.

    The floor is the highest that a row has, or else the epoch's; no row's floor is above its last
    id. A page is full, or exact down to the floor of a row that was read for it.
    """

    is_transactional = True
    accepts_partial_delivery = True
    model = Segment
    capacity: int

    def __init__(self, alias: str, *, capacity: int = 800) -> None:
        super().__init__(alias)
        self.capacity = capacity
        self._random = np.random.default_rng()

    def deliver(self, posts: Sequence[Post]) -> None:
        self.write(deliveries_of(posts))

    def deliver_to(self, post: Post, owner_ids: Sequence[int]) -> None:
        self.write([(post.id, np.array(owner_ids, np.int64))])

    def write(self, deliveries: Deliveries) -> None:
        """Make these deliveries."""
        additions = by_owner(deliveries)
        with transaction.atomic(savepoint=False):
            _write(_ADD, ((who, _last(ids), ids, None) for who, ids in additions.items()))
            if owner_ids := self._owners_to_merge(additions):
                self._merge(owner_ids)

    def find(self, owner_id: int, page: Page) -> Held:
        # Each row has a last id, of which one may be nobody's post: so many rows fill a page.
        statement, most = (_ALL, []) if page.before else (_NEWEST, [page.limit + 1])
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute(statement, [owner_id, *most])
            rows = cursor.fetchall()
        floor = self._floor(floor for floor, _ in rows)
        ids = _distinct(post_ids for _, post_ids in reversed(rows))
        end = None if page.before is None else np.searchsorted(ids, page.before)
        above = ids[np.searchsorted(ids, floor, "right") : end]
        return Held(above[::-1][: page.limit].tolist(), floor)

    def change(self, owner_ids: Sequence[int], *, through: int) -> None:
        _write(_ADD, ((owner_id, through, b"", through) for owner_id in sorted(owner_ids)))

    def begin(self) -> None:
        self.clear()

    def discard(self, owner_id: int) -> None:
        Segment.objects.filter(owner_id=owner_id).delete()

    def clear(self) -> None:
        Segment.objects.all().delete()

    @transaction.atomic
    def rebuild(self, owner_id: int) -> None:
        """Write what is due up to the floor, while none of it is being delivered.

        Does nothing if the floor rises meanwhile.
        """
        through = self.read(owner_id, limit=ALL).floor or 0
        epochs.wait_for_deliveries(through)
        rows = _locked([owner_id])
        if through >= MOST_ID or any((row.floor or 0) > through for row in rows):
            return
        due = due_ids(owner_id, before=through + 1, limit=self.capacity + 1)
        held = _distinct(row.post_ids for row in rows)
        ids = np.append(np.array(due[::-1], np.int64), held[held > through])
        newest = max([through, *ids[-1:].tolist()])
        _write(_REPLACE, [(owner_id, newest, *self._kept(ids, 0))])
        _delete([(owner_id, row.last_id) for row in rows if row.last_id != newest])

    def _owners_to_merge(self, additions: Mapping[int, bytes]) -> list[int]:
        added = ROW_BYTES + np.fromiter(map(len, additions.values()), np.int64, len(additions))
        chances = added / (self.capacity * ID_BYTES)
        chosen = self._random.random(len(added)) < chances
        owner_ids: list[int] = np.fromiter(additions, np.int64, len(added))[chosen].tolist()
        return owner_ids

    def _merge(self, owner_ids: Sequence[int]) -> None:
        """Merge the rows of each owner that nobody else has locked; any of them may be merged."""
        merged, others = [], []
        for owner_id, group in groupby(_locked(owner_ids, skip=True), key=lambda row: row.owner_id):
            *older, newest = group
            ids = _distinct(row.post_ids for row in (*older, newest))
            floor = self._floor(row.floor for row in (*older, newest))
            merged.append((owner_id, newest.last_id, *self._kept(ids, floor)))
            others += [(owner_id, row.last_id) for row in older]
        _write(_REPLACE, merged)
        _delete(others)

    def _floor(self, floors: Iterable[int | None]) -> int:
        known = (floor for floor in floors if floor is not None)
        return max(known, default=epochs.get_or_begin(self).floor)

    def _kept(self, ids: Ids, floor: int) -> tuple[bytes, int]:
        """Return the newest of ascending ids above a floor, packed, and what their floor is."""
        ids = ids[np.searchsorted(ids, floor, "right") :]
        if len(ids) > self.capacity:
            floor = int(ids[-self.capacity - 1])
        return pack(ids[-self.capacity :]).tobytes(), floor


class _Row(NamedTuple):
    owner_id: int
    last_id: int
    post_ids: bytes
    floor: int | None


Values = tuple[int, int, bytes, int | None]
"""Of a row."""
_ALL = "SELECT floor, post_ids FROM feed_timeline_segment WHERE owner_id = %s ORDER BY last_id DESC"
_NEWEST = f"{_ALL} LIMIT %s"
_INSERT = "INSERT INTO feed_timeline_segment (owner_id, last_id, post_ids, floor) {} {}"
_CONFLICT = "ON CONFLICT (owner_id, last_id) DO UPDATE SET"
_DUPLICATE = "ON DUPLICATE KEY UPDATE"
_OLD = "feed_timeline_segment"
_ADD = {
    "sqlite": f"{_CONFLICT} post_ids = CAST({_OLD}.post_ids || excluded.post_ids AS BLOB),"
    f" floor = COALESCE(excluded.floor, {_OLD}.floor)",
    "postgresql": f"{_CONFLICT} post_ids = {_OLD}.post_ids || excluded.post_ids,"
    f" floor = COALESCE(excluded.floor, {_OLD}.floor)",
    "mariadb": f"{_DUPLICATE} post_ids = CONCAT(post_ids, VALUES(post_ids)),"
    " floor = COALESCE(VALUES(floor), floor)",
    "mysql": f"AS new {_DUPLICATE} post_ids = CONCAT({_OLD}.post_ids, new.post_ids),"
    f" floor = COALESCE(new.floor, {_OLD}.floor)",
}
"""What is done with a row that is there: it gets these ids too, and the floor if there is one."""
_REPLACE = {
    "sqlite": f"{_CONFLICT} post_ids = excluded.post_ids, floor = excluded.floor",
    "postgresql": f"{_CONFLICT} post_ids = excluded.post_ids, floor = excluded.floor",
    "mariadb": f"{_DUPLICATE} post_ids = VALUES(post_ids), floor = VALUES(floor)",
    "mysql": f"AS new {_DUPLICATE} post_ids = new.post_ids, floor = new.floor",
}
_ARRAYS = "SELECT * FROM UNNEST(%s::bigint[], %s::bigint[], %s::bytea[], %s::bigint[])"
"""PostgreSQL reads four arrays three times as fast as thousands of rows."""
_DELETE = "DELETE FROM feed_timeline_segment WHERE"
_KEYS = {"mysql": "({})", "postgresql": "(VALUES {})"}


def _write(otherwise: Mapping[str, str], values: Iterable[Values]) -> None:
    """Insert rows; what is done with those that are there differs by database."""
    rows = list(values)
    written = sum(ROW_BYTES + 2 * len(ids) for _, _, ids, _ in rows)
    size = max(1, len(rows) * STATEMENT_BYTES // max(1, written))
    database = "mariadb" if getattr(connection, "mysql_is_mariadb", False) else connection.vendor
    with connection.cursor() as cursor:
        for start in range(0, len(rows), size):
            portion = rows[start : start + size]
            if database == "postgresql":
                cursor.execute(_INSERT.format(_ARRAYS, otherwise[database]), _arrays(portion))
            else:
                cursor.execute(_INSERT.format(_literally(portion), otherwise[database]))


def _arrays(rows: Iterable[Values]) -> list[str]:
    """Return the columns as PostgreSQL writes arrays."""
    owner_ids, newest, packed, floors = zip(*rows, strict=True)
    texts = (
        map(str, owner_ids),
        map(str, newest),
        (rf'"\\x{ids.hex()}"' for ids in packed),
        ("NULL" if floor is None else str(floor) for floor in floors),
    )
    return ["{" + ",".join(column) + "}" for column in texts]


def _literally(rows: Iterable[Values]) -> str:
    """Return rows as SQL: thousands of parameters would take most of the time."""
    return "VALUES " + ",".join(
        f"({owner_id},{newest},X'{ids.hex()}',{'NULL' if floor is None else floor})"
        for owner_id, newest, ids, floor in rows
    )


def _locked(owner_ids: Sequence[int], *, skip: bool = False) -> list[_Row]:
    """Lock the rows of these owners, or those that nobody else has locked, and return them."""
    rows = Segment.objects.select_for_update(skip_locked=skip).filter(owner_id__in=owner_ids)
    return list(map(_Row._make, rows.order_by("owner_id", "last_id").values_list(*_Row._fields)))


def _delete(keys: Sequence[tuple[int, int]]) -> None:
    """Delete rows by their keys: between them, others may have been added."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":  # it would go through the whole table
            cursor.executemany(f"{_DELETE} (owner_id, last_id) = (%s, %s)", keys)
            return
        in_keys = f"{_DELETE} (owner_id, last_id) IN {_KEYS[connection.vendor]}"
        for start in range(0, len(keys), MOST_KEYS):
            portion = ",".join(map(str, keys[start : start + MOST_KEYS]))
            cursor.execute(in_keys.format(portion))


def _last(ids: bytes) -> int:
    return int.from_bytes(ids[-ID_BYTES:], "little")


def _distinct(parts: Iterable[Any]) -> Ids:
    """Return the ids that some rows hold, ascending; quickly if they are in this order."""
    ids = unpack(b"".join(parts))
    if (ids[1:] <= ids[:-1]).any():
        ids.sort()
        ids = ids[np.append(True, ids[1:] > ids[:-1])]
    return ids

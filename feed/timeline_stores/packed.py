from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from itertools import accumulate, groupby
from typing import NamedTuple

from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction

from feed.models import PackedTimeline
from feed.timeline_stores.base import Held, Versions, Wanted
from feed.timeline_stores.locked import LockedStore
from feed.timeline_stores.packing import (
    FLAG,
    HEADER_BYTES,
    HEADER_WORDS,
    ID_BYTES,
    PENDING,
    held_of,
    is_timeline,
    pack_timeline,
    unpack,
    unpack_timeline,
)
from feed.timeline_stores.rule import SLACK, Timeline

MOST_BYTES = 10**8
"""More than any row has; SQLite's substr returns nothing for numbers above its limits."""
STATEMENT_BYTES = 2**22
"""Of the rows in one INSERT, but for one; MariaDB comes with a ``max_allowed_packet`` of 16 MiB."""


class Packed(LockedStore):
    """One row per person with their timeline, packed as in ``ring``.

    A batch writes one row per owner, whatever its length. The row is written whole, so single
    posts are expensive. Rows are locked before they are written, in the same order by all writers:
    the database appends ids above the newest of a row; other rows are read and changed in Python.
    """

    is_transactional = True
    model = PackedTimeline

    def discard(self, owner_id: int) -> None:
        PackedTimeline.objects.filter(owner_id=owner_id).delete()

    def clear(self) -> None:
        PackedTimeline.objects.all().delete()

    def find(self, owner_id: int, page: Wanted) -> Held:
        size = min(MOST_BYTES, (page.limit + HEADER_WORDS) * ID_BYTES)
        packed = _read([owner_id], MOST_BYTES if page.before else size).get(owner_id, b"")
        return held_of(packed, before=page.before, limit=page.limit)

    def add(self, additions: Mapping[int, bytes]) -> Versions:
        limit = int(self.capacity * SLACK) * ID_BYTES + HEADER_BYTES
        with transaction.atomic(savepoint=False):
            ends = _lock(additions)
            fits = {
                owner_id: ids
                for owner_id, ids in additions.items()
                if ends[owner_id].can_append(ids, limit)
            }
            _write(_statements().append, fits)
            others = {owner_id: ids for owner_id, ids in additions.items() if owner_id not in fits}
            return super().add(others) if others else {}

    @contextmanager
    def locked(self, owner_ids: Collection[int]) -> Iterator[dict[int, Timeline]]:
        with transaction.atomic(savepoint=False):
            _lock(owner_ids)
            held = _read(owner_ids).items()
            found = {owner_id: unpack_timeline(packed) for owner_id, packed in held}
            timelines = {owner_id: timeline for owner_id, timeline in found.items() if timeline}
            yield timelines
            changed = {owner_id: pack_timeline(kept) for owner_id, kept in timelines.items()}
            _write(_statements().replace, changed)


class _Ends(NamedTuple):
    """What decides whether ids can be appended to a row."""

    header: bytes
    last: bytes
    size: int

    def can_append(self, ids: bytes, limit: int) -> bool:
        """Tell whether packed ids are newer than everything in the row, and fit."""
        if not is_timeline(self.header) or self.size + len(ids) > limit:
            return False
        words = unpack(self.header + self.last + ids[:ID_BYTES])
        _, seal, floor, last, first = (words & ~FLAG).tolist()
        if self.size == HEADER_BYTES:
            last = 0
        return bool(floor != PENDING and first > max(seal, floor, last))


class _Statements(NamedTuple):
    """Statements with inlined values: thousands of parameters would take most of the time."""

    lock: str
    append: str
    """The rows exist: this INSERT updates many rows at once, each with its own value."""
    replace: str
    end: str = "right(post_ids, {})"
    """The last bytes of a row."""
    literal: str = "X'{}'"


_LOCK = (
    "SELECT owner_id, substr(post_ids, 1, %s), {}, length(post_ids)"
    " FROM feed_timeline_packed WHERE owner_id IN ({}) ORDER BY owner_id"
)
_READ = "SELECT owner_id, {} FROM feed_timeline_packed WHERE owner_id IN ({})"
_INSERT = "INSERT INTO feed_timeline_packed (owner_id, post_ids) VALUES {}"
_ON_DUPLICATE = " ON DUPLICATE KEY UPDATE post_ids = "
_ON_CONFLICT = " ON CONFLICT (owner_id) DO UPDATE SET post_ids = "
_SQL = {
    "mariadb": _Statements(
        _LOCK + " FOR UPDATE",
        _INSERT + _ON_DUPLICATE + "CONCAT(post_ids, VALUES(post_ids))",
        _INSERT + _ON_DUPLICATE + "VALUES(post_ids)",
    ),
    "mysql": _Statements(  # VALUES() is deprecated there
        _LOCK + " FOR UPDATE",
        _INSERT
        + " AS added"
        + _ON_DUPLICATE
        + "CONCAT(feed_timeline_packed.post_ids, added.post_ids)",
        _INSERT + " AS added" + _ON_DUPLICATE + "added.post_ids",
    ),
    "sqlite": _Statements(  # its write transactions lock the whole database
        _LOCK,
        _INSERT + _ON_CONFLICT + "CAST(post_ids || excluded.post_ids AS BLOB)",
        _INSERT + _ON_CONFLICT + "excluded.post_ids",
        end="substr(post_ids, -{})",
    ),
    "postgresql": _Statements(
        _LOCK + " FOR UPDATE",
        _INSERT + _ON_CONFLICT + "feed_timeline_packed.post_ids || excluded.post_ids",
        _INSERT + _ON_CONFLICT + "excluded.post_ids",
        end="substr(post_ids, greatest(1, 1 + length(post_ids) - {}))",
        literal=r"'\x{}'",
    ),
}


def _statements() -> _Statements:
    mariadb = getattr(connection, "mysql_is_mariadb", False)
    return _SQL["mariadb" if mariadb else connection.vendor]


def _lock(owner_ids: Collection[int]) -> dict[int, _Ends]:
    """Lock the rows of these owners, creating missing ones empty; return their ends."""
    ends = _select_for_update(owner_ids)
    missing = [owner_id for owner_id in owner_ids if owner_id not in ends]
    if missing:
        # Concurrent writers may do the same. With INSERT IGNORE both would take shared locks
        # of the rows, and wait for each other to write.
        _write(_statements().append, dict.fromkeys(missing, b""))
        ends |= _select_for_update(missing)
    return ends


def _select_for_update(owner_ids: Collection[int]) -> dict[int, _Ends]:
    with connection.cursor() as cursor:
        end = _statements().end.format(ID_BYTES)
        statement = _statements().lock.format(end, ",".join(map(str, owner_ids)))
        cursor.execute(statement, [HEADER_BYTES])
        return {
            owner_id: _Ends(header or b"", last or b"", size)
            for owner_id, header, last, size in cursor.fetchall()
        }


def _write(statement: str, packed: Mapping[int, bytes]) -> None:
    literal = _statements().literal
    rows = [f"({owner_id},{literal.format(ids.hex())})" for owner_id, ids in packed.items()]
    ends = accumulate(map(len, rows))
    with connection.cursor() as cursor:
        for _, portion in groupby(rows, lambda _: next(ends) // STATEMENT_BYTES):
            cursor.execute(statement.format(",".join(portion)))


def _read(owner_ids: Collection[int], size: int = MOST_BYTES) -> dict[int, bytes]:
    """Return the last ``size`` bytes of the rows of these owners."""
    if not owner_ids:
        return {}
    owners, end = ",".join(map(str, owner_ids)), _statements().end.format(size)
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(_READ.format(end, owners))
        return {owner_id: packed or b"" for owner_id, packed in cursor.fetchall()}

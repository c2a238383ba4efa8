"""Bulk seeding of logs."""

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta

import numpy as np
from django.db import connection, transaction
from numpy.typing import NDArray

from accounts.models import Person
from replays.activity import LAST_DAY
from replays.activity.app.models import Direction
from replays.activity.app.queries.base import CHUNK, Queries

DAYS = 184
SEED = 7
DEVICES = 8
MISSED = 0.005
"""Share of logs whose device mistook an entry for an exit, or the reverse."""


def seed_visits(*, queries: Queries, rows: int) -> Iterator[float]:
    """Write ``rows`` logs for all people, the same each time, over six months up to LAST_DAY.

    Yields the share done (0 … 1). Raises ValueError, having changed nothing, if there are logs
    already, or no people.
    """
    if queries.table.objects.exists():
        raise ValueError("there are logs already; empty the database first (manage.py flush)")
    people = np.array(Person.objects.order_by("id").values_list("id", flat=True), np.int64)
    if not 0 < len(people) <= rows:
        raise ValueError(f"{len(people)} people can't have {rows} logs: at least one each")
    with transaction.atomic():
        yield from _insert(queries, _logs(people, rows))
    _count_rows(connection.ops.quote_name(queries.table._meta.db_table))


def _logs(people: NDArray[np.int64], rows: int) -> list[NDArray[np.int64]]:
    """Return the columns person, at, device and is-exit, sorted by ``at``."""
    random = np.random.default_rng(SEED)
    each = -(-rows // len(people))
    gaps = random.exponential(size=(len(people), each + 1)).cumsum(axis=1)
    end = datetime.combine(LAST_DAY + timedelta(days=1), time.min, UTC).timestamp()
    span_s = DAYS * 24 * 3600
    at = (end - span_s + gaps[:, :-1] / gaps[:, -1:] * span_s).astype(np.int64).ravel()
    phase = random.integers(2, size=(len(people), 1))
    exits = ((np.arange(each) + phase) % 2).ravel() ^ (random.random(at.size) < MISSED)
    order = np.sort(random.permutation(at.size)[:rows])
    order = order[np.argsort(at[order], kind="stable")]
    person = np.repeat(people, each)
    return [c[order] for c in (person, at, random.integers(1, DEVICES + 1, at.size), exits)]


def _insert(queries: Queries, columns: list[NDArray[np.int64]]) -> Iterator[float]:
    person, at, device, exits = columns
    directions = np.array([Direction.IN.value, Direction.OUT.value])[exits]
    for start in range(0, len(at), CHUNK):
        chunk = slice(start, start + CHUNK)
        values = (c[chunk].tolist() for c in (person, at, device, directions))
        queries.write(list(zip(*values, strict=True)))
        yield min(start + CHUNK, len(at)) / len(at)


def _count_rows(table: str) -> None:
    """Let MySQL or PostgreSQL count the rows of a table now.

    They would only seconds later, and choose the plans of the first queries for an empty table.
    """
    if connection.vendor != "sqlite":
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE {'TABLE ' * (connection.vendor == 'mysql')}{table}")

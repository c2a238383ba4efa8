"""Checks, sizes and clearing of a store."""

import numpy as np
from django.core.management.color import no_style
from django.db import connection

from bench.graphs import SEED, Graph
from bench.posts import Delivered
from feed.audit import Audit, Due, Stored, audit_one
from feed.recipients import Ids
from feed.timeline_stores.base import TimelineStore
from feed.timeline_stores.redis import RedisStore
from feed.timeline_stores.sql import SQLStore
from feed.timeline_stores.trimmed import TrimmedStore

SAMPLE = 20
CREATED = 10_000
"""Timelines per call."""


def check(timeline: TimelineStore, graph: Graph, delivered: Delivered) -> Audit:
    """Audit the timelines of some random people against what was delivered."""
    ids, authors = delivered.ids_and_authors()
    friend_ids = graph.friend_ids()
    found = Audit(posts=len(ids))
    random = np.random.default_rng(SEED)
    for owner_id in random.choice(graph.people, min(SAMPLE, graph.people), replace=False) + 1:
        author_ids = np.append(graph.posters[(friend_ids == owner_id).any(axis=1)], owner_id)
        due = ids[np.isin(authors, author_ids)]
        live = np.ones(len(due), np.bool_)
        audit_one(found, int(owner_id), Due(due, live), Stored(timeline))
    return found


def entries(timeline: TimelineStore, owner_ids: Ids) -> int:
    return sum(len(timeline.members(owner_id)) for owner_id in owner_ids.tolist())


def begin(timeline: TimelineStore, owner_ids: Ids) -> None:
    """Let these owners have empty timelines, which are whole."""
    if isinstance(timeline, TrimmedStore):
        for start in range(0, len(owner_ids), CREATED):
            pending = timeline.create(owner_ids[start : start + CREATED].tolist())
            if pending:
                timeline.settle(pending, through=0)


def empty(timeline: TimelineStore) -> None:
    """Clear a store; truncate a table, since the purge of deleted rows takes minutes."""
    if not isinstance(timeline, SQLStore):
        timeline.clear()
        return
    table = timeline.model._meta.db_table
    connection.ops.execute_sql_flush(
        connection.ops.sql_flush(no_style(), [table], reset_sequences=True)
    )


def stored_bytes(timeline: TimelineStore) -> int | None:
    """Return what the server keeps, of which a difference says something; None in the process."""
    if isinstance(timeline, RedisStore):
        memory = timeline.client.info("memory")
        return int(memory["used_memory"] - memory["mem_clients_normal"])
    if isinstance(timeline, SQLStore):
        mysql = connection.vendor == "mysql"
        return _table_bytes(timeline.model._meta.db_table) if mysql else _file_bytes()
    return None


def _table_bytes(table: str) -> int:
    """Return the size of a MySQL table with its indexes."""
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE TABLE {table}")
        cursor.fetchall()
        cursor.execute(
            "SELECT data_length + index_length FROM information_schema.tables"
            " WHERE table_schema = DATABASE() AND table_name = %s",
            [table],
        )
        return int(cursor.fetchone()[0])


def _file_bytes() -> int:
    """Return the size of all pages in use of an SQLite file."""
    return (_pragma("page_count") - _pragma("freelist_count")) * _pragma("page_size")


def _pragma(name: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA {name}")
        return int(cursor.fetchone()[0])

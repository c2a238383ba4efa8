"""What a store holds: its check, its sizes, and how it is emptied."""

from collections.abc import Mapping, Sequence

import numpy as np
from django.core.management.color import no_style
from django.db import connection
from django.db.models import Model

from bench.graphs import SEED, Graph
from feed.audit import Audit, Due, Stored, audit_one
from feed.recipients import Ids
from feed.timeline_stores.base import TimelineStore
from feed.timeline_stores.redis_cluster import Cluster
from feed.timeline_stores.redis_servers import RedisServers

SAMPLE = 20
CREATED = 10_000
"""Timelines per call."""


def check(timeline: TimelineStore, graph: Graph, delivered: Sequence[tuple[int, int]]) -> Audit:
    """Audit the timelines of some random people against the (post id, author id) delivered."""
    ids, authors = np.array(delivered, np.int64).reshape(-1, 2).T
    friend_ids = graph.friend_ids()
    audit = Audit(posts=len(ids))
    random = np.random.default_rng(SEED)
    for owner_id in random.choice(graph.people, min(SAMPLE, graph.people), replace=False) + 1:
        author_ids = np.append(graph.posters[(friend_ids == owner_id).any(axis=1)], owner_id)
        is_due = np.isin(authors, author_ids)
        due = Due(ids[is_due], np.ones(is_due.sum(), np.bool_), authors[is_due])
        audit_one(audit, int(owner_id), due, Stored(timeline))
    return audit


def begin(timeline: TimelineStore, owner_ids: Ids) -> None:
    """Give these owners empty timelines, which are whole."""
    if timeline.takes_loads:
        for start in range(0, len(owner_ids), CREATED):
            pending = timeline.create(owner_ids[start : start + CREATED].tolist())
            if pending:
                timeline.activate(pending, through=0)


def empty(timeline: TimelineStore) -> None:
    """Clear a store; truncate a table, since the purge of deleted rows takes minutes."""
    table = _table_of(timeline)
    if not table:
        timeline.clear()
        return
    connection.ops.execute_sql_flush(
        connection.ops.sql_flush(no_style(), [table], reset_sequences=True)
    )


def stored_bytes(timeline: TimelineStore) -> int | None:
    """Return what the server keeps, of which a difference says something; None in the process."""
    if isinstance(timeline.servers, RedisServers):
        infos = [client.info("memory") for client in timeline.servers.clients()]
        return sum(map(_bytes_of_keys, infos))
    table = _table_of(timeline)
    if not table:
        return None
    if connection.vendor == "mysql":
        return _table_bytes(table)
    if connection.vendor == "postgresql":
        return _number(f"SELECT pg_total_relation_size('{table}')")
    pages = _number("PRAGMA page_count") - _number("PRAGMA freelist_count")
    return pages * _number("PRAGMA page_size")


def exchanged(timeline: TimelineStore) -> dict[str, int]:
    """Return how often the primaries of a cluster confirmed, and the bytes sent to replicas.

    A round trip to a primary ends with one WAIT. Other stores confirm nothing.
    """
    if not isinstance(timeline.servers, Cluster):
        return {}
    infos = [client.info("everything") for client in timeline.servers.clients()]
    waits = (info.get("cmdstat_wait", {"calls": 0})["calls"] for info in infos)
    return {"trips": sum(waits), "replicated": sum(info["master_repl_offset"] for info in infos)}


def _table_of(timeline: TimelineStore) -> str | None:
    model: type[Model] | None = getattr(timeline, "model", None)
    return model._meta.db_table if model else None


def _bytes_of_keys(memory: Mapping[str, int]) -> int:
    """Return what is left without the buffers of clients and replicas."""
    buffers = memory["mem_clients_normal"] + memory.get("mem_total_replication_buffers", 0)
    return memory["used_memory"] - buffers


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


def _number(sql: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return int(cursor.fetchone()[0])

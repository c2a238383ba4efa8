"""The SQL of the busiest writes, by vendor where it differs: a post, deliveries, receipts.

Django's compiler would build the same statements in each request, which took a quarter of its
time (docs/decisions/0010).
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django.db import DEFAULT_DB_ALIAS, IntegrityError, connections, transaction

from accounts.revocations import knows_of_no_revocation
from db.prepared import Prepared
from feed.models import Post

INSERT_POST = "INSERT INTO feed_post (body, author_id, like_count) VALUES (%s, {author}, 0)"
ACTIVE = "(SELECT id FROM accounts_person WHERE id = %s AND is_active)"
"""Not INSERT … SELECT, for which InnoDB locks the counter of ids until the statement's end."""
INSERT_LOCKING_AUTHOR = (
    "INSERT INTO feed_post (body, author_id, like_count)"
    " SELECT %s, id, 0 FROM accounts_person WHERE id = %s AND is_active FOR SHARE"
)
"""The same for PostgreSQL, with the lock that others wait for (docs/decisions/0013)."""
INSERT_IGNORE = {"sqlite": "INSERT OR IGNORE INTO", "mysql": "INSERT IGNORE INTO"}
LOCK_POSTS = {"postgresql": "LOCK TABLE feed_post IN SHARE MODE"}
LOOK_AT_BACKLOG = Prepared(
    "SELECT EXISTS (SELECT 1 FROM feed_post WHERE delivered_at IS NULL),"
    " EXISTS (SELECT 1 FROM feed_poison)"
)
CLAIM = (
    "SELECT id, author_id, created_at FROM feed_post WHERE delivered_at IS NULL"
    " ORDER BY id LIMIT %s{lock}"
)
SKIP_LOCKED = " FOR UPDATE SKIP LOCKED"
LOCK = {"sqlite": "", "mysql": SKIP_LOCKED, "postgresql": SKIP_LOCKED}
"""SQLite's transaction is the lock."""
WAITING_BY_AUTHOR = (
    "SELECT author_id, COUNT(*) FROM (SELECT author_id FROM feed_post WHERE delivered_at IS NULL"
    " ORDER BY id LIMIT %s) waiting GROUP BY author_id"
)
CLAIMED = ("id", "author_id", "created_at")
SET_RECEIPTS = "UPDATE feed_post SET delivered_at = {now} WHERE delivered_at IS NULL AND id {ids}"
NOW = {
    "sqlite": "STRFTIME('%%Y-%%m-%%d %%H:%%M:%%f', 'NOW')",
    "mysql": "CURRENT_TIMESTAMP(6)",
    "postgresql": "STATEMENT_TIMESTAMP()",
}
"""In the format of Django's datetime columns."""


def insert_post(author_id: int, body: str) -> Post:
    """Write a post like ``Post.objects.create``, without signals.

    Raises IntegrityError if the author isn't active. Asking makes the statement slower, so it
    asks unless this process knows, from the last second, of no revocation of theirs.
    Where the database returns no columns of an INSERT (MySQL), ``created_at`` is deferred.
    """
    connection: Any = connections[DEFAULT_DB_ALIAS]
    returned: dict[str, Any]
    if connection.vendor == "postgresql":
        statement = INSERT_LOCKING_AUTHOR
    else:
        known = knows_of_no_revocation(author_id)
        statement = INSERT_POST.format(author="%s" if known else ACTIVE)
    with connection.cursor() as cursor:
        if connection.features.can_return_columns_from_insert:
            returning = Prepared(f"{statement} RETURNING id, created_at")
            cursor.execute(returning, (body, author_id))
            row = cursor.fetchone()
            if row is None:
                raise IntegrityError("the author isn't there, or isn't active")
            returned = {"id": row[0], "created_at": _aware(row[1])}
        else:
            cursor.execute(statement, (body, author_id))
            returned = {"id": cursor.lastrowid}
    values = returned | {
        "author_id": author_id,
        "body": body,
        "delivered_at": None,
        "deleted_at": None,
        "like_count": 0,
    }
    names = [field.attname for field in Post._meta.concrete_fields if field.attname in values]
    return Post.from_db(DEFAULT_DB_ALIAS, names, [values[name] for name in names])


def wait_for_posts_in_flight() -> None:
    """Wait for the transactions that are writing posts now; call it outside of transactions.

    Only PostgreSQL has to be asked: elsewhere a locking read of the backlog waits for rows that are
    not committed yet, or there is one writer (docs/decisions/0013).
    """
    connection = connections[DEFAULT_DB_ALIAS]
    if lock := LOCK_POSTS.get(connection.vendor):
        with transaction.atomic(DEFAULT_DB_ALIAS), connection.cursor() as cursor:
            cursor.execute(lock)


def insert_new(insert: str, values: Sequence[Any]) -> None:
    """Run an INSERT, given without its first words, for the rows that aren't there yet.

    PostgreSQL's ON CONFLICT costs twice as much, so it is used only after a violation.
    """
    connection = connections[DEFAULT_DB_ALIAS]
    with connection.cursor() as cursor:
        if connection.vendor in INSERT_IGNORE:
            cursor.execute(f"{INSERT_IGNORE[connection.vendor]} {insert}", values)
            return
        try:
            with transaction.atomic(DEFAULT_DB_ALIAS):
                cursor.execute(Prepared(f"INSERT INTO {insert}"), values)
        except IntegrityError:
            cursor.execute(f"INSERT INTO {insert} ON CONFLICT DO NOTHING", values)


def look_at_backlog() -> tuple[bool, bool]:
    """Tell whether any post has no receipt, and whether any is set aside."""
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(LOOK_AT_BACKLOG)
        is_waiting, is_any_aside = cursor.fetchone()
    return bool(is_waiting), bool(is_any_aside)


def waiting_by_author(limit: int) -> dict[int, int]:
    """Return how many of the oldest ``limit`` posts of the backlog each author has."""
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(WAITING_BY_AUTHOR, [limit])
        return dict(cursor.fetchall())


def claim(limit: int) -> list[Post]:
    """Lock up to ``limit`` posts without a receipt that nobody has locked, oldest id first.

    In the caller's transaction. All columns but CLAIMED are deferred.
    """
    connection = connections[DEFAULT_DB_ALIAS]
    with connection.cursor() as cursor:
        cursor.execute(Prepared(CLAIM.format(lock=LOCK[connection.vendor])), [limit])
        rows = cursor.fetchall()
    return [
        Post.from_db(DEFAULT_DB_ALIAS, CLAIMED, (post_id, author_id, _aware(created_at)))
        for post_id, author_id, created_at in rows
    ]


def set_receipts(post_ids: Sequence[int]) -> int:
    """Set the missing receipts; return their number."""
    connection = connections[DEFAULT_DB_ALIAS]
    ids, values = _in(post_ids)
    with connection.cursor() as cursor:
        cursor.execute(SET_RECEIPTS.format(now=NOW[connection.vendor], ids=ids), values)
        return int(cursor.rowcount)


def _in(ids: Sequence[int]) -> tuple[str, Sequence[int]]:
    """Return a condition for ids, and its values: a range where they have no gap."""
    first, last = min(ids), max(ids)
    if last - first + 1 == len(set(ids)):
        return "BETWEEN %s AND %s", (first, last)
    return f"IN ({','.join(['%s'] * len(ids))})", ids


def _aware(value: datetime | str) -> datetime:
    """Return a driver's time as an aware datetime; SQLite's is text, all are UTC."""
    naive = datetime.fromisoformat(value) if isinstance(value, str) else value
    return naive.replace(tzinfo=UTC)

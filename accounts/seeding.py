"""Bulk seeding of people, and of who reads whom."""

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import connection, transaction

from accounts.follows import renew_versions
from accounts.graphs import Edges, edges
from accounts.ids import PUBLIC_GROUP_ID
from accounts.models import Follow, Membership, Person, Profile
from accounts.usernames import username_key
from db.rows import insert_rows

CHUNK = 20_000


def seed_people(*, people: int, password: str | None, **graph: Any) -> Iterator[float]:
    """Write persons 1 … ``people``, and who reads whom (FEED_EDGES), in one transaction.

    ``graph``: the other arguments of ``accounts.graphs.edges``. Yields the share done (0 …
    1). Everyone gets the same ``password``, hashed once; None: nobody can log in. Raises
    ValueError, having changed nothing, if there are people already or if the graph is impossible.
    """
    if Person.objects.exists():
        raise ValueError("there are people already; empty the database first (manage.py flush)")
    # All is computed before the transaction: the database ends one that is idle for 10 s.
    rows = edges(settings.FEED_EDGES, people=people, **graph)
    # The rows are right by construction. Looking each one up would take longer than writing it.
    with connection.constraint_checks_disabled(), transaction.atomic():
        _insert_people(people, make_password(password))
        yield from insert_follows(rows)
        renew_versions(Person.objects.all())


def _insert_people(people: int, encoded: str) -> None:
    ids = range(1, people + 1)
    names = ((n, f"person{n}") for n in ids)
    columns = ("id", "username", "username_key", "password", "is_active", "tokens_version")
    rows = ((n, name, username_key(name), encoded, True, 0) for n, name in names)
    insert_rows(Person, columns, rows)
    insert_rows(Profile, ("person_id", "name"), ((n, "") for n in ids))
    insert_rows(Membership, ("person_id", "group_id"), ((n, PUBLIC_GROUP_ID) for n in ids))


def insert_follows(rows: Edges) -> Iterator[float]:
    """Write (author, reader) rows, fastest in the table's order; yield the share done."""
    for start in range(0, len(rows), CHUNK):
        chunk = rows[start : start + CHUNK].tolist()
        insert_rows(Follow, ("author_id", "reader_id"), chunk)
        yield min(start + CHUNK, len(rows)) / len(rows)

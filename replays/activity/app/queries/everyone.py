"""Everybody's last log in one query, with or without an index."""

from typing import NamedTuple

from django.db import connection

from replays.activity.app.models import Direction, Log


class Last(NamedTuple):
    """A person's last log; a person's logs sort in this order."""

    at: int
    id: int
    direction: str


def last_of_everyone(table: type[Log], direction: Direction | None = None) -> dict[int, Last]:
    """Return the last log of each person who has any, or the last in one direction."""
    name = connection.ops.quote_name(table._meta.db_table)
    only = "" if direction is None else "WHERE log.direction = %(direction)s"
    sql = f"""
        SELECT log.person_id, log.at, log.id, log.direction
        FROM (SELECT person_id, MAX(at) AS at FROM {name} AS log {only} GROUP BY person_id) AS last
        JOIN {name} AS log ON log.person_id = last.person_id AND log.at = last.at
        {only}
    """  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(sql, {"direction": direction and direction.value})
        return latest(cursor.fetchall())


def latest(rows: list[tuple[int, int, int, str]]) -> dict[int, Last]:
    """Keep the last log of each person; at the same second, the one with the highest id."""
    return {row[0]: Last._make(row[1:]) for row in sorted(rows)}

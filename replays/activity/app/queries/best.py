from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import inf
from threading import Lock
from time import monotonic

from django.db import connection

from replays.activity.app.models import Direction
from replays.activity.app.periods import Period
from replays.activity.app.queries.base import Queries
from replays.activity.app.visits import Passage, paired

REACHING_INTO = """
    SELECT at, direction, device FROM {table}
    WHERE person_id = %(person)s
        AND at >= COALESCE(
            (SELECT MAX(at) FROM {table} WHERE person_id = %(person)s AND at < %(start)s), %(start)s
        )
        AND at <= COALESCE(
            (SELECT MIN(at) FROM {table} WHERE person_id = %(person)s AND at >= %(end)s), %(end)s
        )
    ORDER BY at, id
"""
"""The logs of a period with those before and after it."""
INSIDE = """
    SELECT COUNT(*) FROM accounts_person AS person JOIN {table} AS log ON log.id = (
        SELECT own.id FROM {table} AS own WHERE own.person_id = person.id
        ORDER BY own.person_id DESC, own.at DESC, own.id DESC LIMIT 1
    ) WHERE log.direction = %(direction)s
"""
"""The people whose last log is an entry.

MySQL 9 sorts all logs of a person unless the order names all columns of the index, and reads rows
ahead unless the index alone has what is asked for.
"""
KEEP_S = 1.0
"""A process counts the people inside, for which it asks for everybody's last log, once per this."""


class Best(Queries):
    """One query per question, which reads no row twice.

    In SQL: composing this query in Django takes as long as the database needs to find the logs.
    """

    def passages(self, person_id: int, period: Period) -> list[Passage]:
        table = connection.ops.quote_name(self.table._meta.db_table)
        with connection.cursor() as cursor:
            cursor.execute(
                REACHING_INTO.format(table=table), {"person": person_id, **period._asdict()}
            )
            return list(map(Passage._make, cursor.fetchall()))

    def seconds(self, person_id: int, periods: Sequence[Period], now: int) -> list[int]:
        reach = Period(min(p.start for p in periods), max(p.end for p in periods))
        visits = paired(self.passages(person_id, reach))
        inside = _Inside((entry.at, now if left is None else left) for entry, left in visits)
        return [inside.before(period.end) - inside.before(period.start) for period in periods]

    _counted = (-inf, 0)
    _one_counts = Lock()

    def inside_now(self) -> int:
        with self._one_counts:  # and the others wait, or all would count whenever it is due
            if monotonic() > self._counted[0] + KEEP_S:
                table = connection.ops.quote_name(self.table._meta.db_table)
                with connection.cursor() as cursor:
                    cursor.execute(INSIDE.format(table=table), {"direction": Direction.IN.value})
                    self._counted = monotonic(), cursor.fetchone()[0]
            return self._counted[1]


class _Inside:
    """Cumulative sums of visits, so that each further period is cheap."""

    def __init__(self, visits: Iterable[tuple[int, int]]) -> None:
        both = list(visits)
        self._entered = [entered for entered, _ in both]
        self._left = [left for _, left in both]
        self._seconds = [0, *accumulate(left - entered for entered, left in both)]

    def before(self, moment: int) -> int:
        """Return the seconds of the visits before a moment."""
        begun = bisect_left(self._entered, moment)
        later = max(0, self._left[begun - 1] - moment) if begun else 0
        return self._seconds[begun] - later

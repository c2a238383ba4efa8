from collections.abc import Sequence

from django.db import connection
from django.db.models import Max, Min, OuterRef, Subquery
from django.db.models.functions import Coalesce

from accounts.models import Person
from activity.models import Direction
from activity.periods import Period
from activity.queries.base import Queries, as_passages
from activity.visits import Passage

SECONDS = """
    SELECT {totals}
    FROM (
        SELECT at, direction,
            COALESCE(LEAD(at) OVER by_time, %(now)s) AS left_at,
            COALESCE(LEAD(direction) OVER by_time, 'out') AS following
        FROM {table}
        WHERE person_id = %(person)s
            AND at >= COALESCE(
                (SELECT MAX(at) FROM {table} WHERE person_id = %(person)s AND at < %(start)s), 0
            )
            AND at <= COALESCE(
                (SELECT MIN(at) FROM {table} WHERE person_id = %(person)s AND at >= %(end)s),
                %(end)s
            )
        WINDOW by_time AS (ORDER BY at, id)
    ) AS paired
    WHERE direction = 'in' AND following = 'out'
"""
"""The logs from before the first period until after the last, each with the one that follows."""
TOTAL = "SUM({larger}(0, {smaller}(left_at, %(end{n})s) - {larger}(at, %(start{n})s)))"
FUNCTIONS = {
    "sqlite": {"larger": "MAX", "smaller": "MIN"},
    "mysql": {"larger": "GREATEST", "smaller": "LEAST"},
}


class Best(Queries):
    """One query a question; the database itself pairs the logs and adds up the times.

    In SQL: Django takes three times as long to put this query together as the database to answer.
    """

    def seconds(self, person_id: int, periods: Sequence[Period], now: int) -> list[int]:
        reach = {"start": min(p.start for p in periods), "end": max(p.end for p in periods)}
        starts = {f"start{n}": period.start for n, period in enumerate(periods)}
        ends = {f"end{n}": period.end for n, period in enumerate(periods)}
        functions = FUNCTIONS[connection.vendor]
        totals = ", ".join(TOTAL.format(n=n, **functions) for n in range(len(periods)))
        table = connection.ops.quote_name(self.table._meta.db_table)
        with connection.cursor() as cursor:
            cursor.execute(
                SECONDS.format(totals=totals, table=table),
                {"person": person_id, "now": now, **reach, **starts, **ends},
            )
            return [int(total or 0) for total in cursor.fetchone()]

    def passages(self, person_id: int, period: Period) -> list[Passage]:
        logs = self.logs_of(person_id)
        before = logs.filter(at__lt=period.start).values("person").values(at=Max("at"))
        after = logs.filter(at__gte=period.end).values("person").values(at=Min("at"))
        return as_passages(
            logs.filter(
                at__gte=Coalesce(Subquery(before), period.start),
                at__lte=Coalesce(Subquery(after), period.end),
            ).order_by("at", "pk")
        )

    def inside_now(self) -> int:
        logs = self.table.objects.filter(person_id=OuterRef("pk")).order_by("-at", "-pk")
        last = Person.objects.annotate(last=Subquery(logs.values("direction")[:1]))
        return last.filter(last=Direction.IN).count()

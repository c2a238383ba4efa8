from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from django.apps import apps
from django.db import connection
from django.db.models import Q, QuerySet

from db.rows import insert_rows
from replays.activity.app.models import Direction, Log
from replays.activity.app.periods import Period
from replays.activity.app.visits import Passage, Visit, seconds_within, visits_within

CHUNK = 20_000


class Last(NamedTuple):
    """A person's last log; a person's logs sort in this order."""

    at: int
    id: int
    direction: str


def latest(rows: Sequence[tuple[int, int, int, str]]) -> dict[int, Last]:
    """Keep the last log of each person; at the same second, the one with the highest id."""
    return {row[0]: Last._make(row[1:]) for row in sorted(rows)}


class Queries(ABC):
    """The queries of the endpoints, on one of the tables. All implementations answer the same.

    ``now``: the time of the request in Unix time; an open visit counts until then.
    """

    def __init__(self, alias: str, *, table: str) -> None:
        self.alias = alias
        self.table: type[Any] = apps.get_model("activity", table)

    @abstractmethod
    def passages(self, person_id: int, period: Period) -> list[Passage]:
        """Return the logs of a period, with the neighbours that ``visits_within`` needs."""

    @abstractmethod
    def inside_now(self) -> int:
        """Return the number of people whose last log is an entry."""

    def seconds(self, person_id: int, periods: Sequence[Period], now: int) -> list[int]:
        """Return the seconds that a person was inside within each period."""
        return [seconds_within(period, self.passages(person_id, period), now) for period in periods]

    def visits(self, person_id: int, period: Period, now: int) -> list[Visit]:
        return visits_within(period, self.passages(person_id, period), now)

    def write(self, logs: Sequence[tuple[int, int, int, str]]) -> None:
        """Add logs: person, at, device and direction of each."""
        insert_rows(self.table, ("person_id", "at", "device", "direction"), logs)

    def rows(self) -> Iterator[tuple[int, int, int, str]]:
        """Yield person, at, id and direction of every log."""
        columns = ("person_id", "at", "pk", "direction")
        yield from self.table.objects.values_list(*columns).iterator(CHUNK)

    def last_of_everyone(self, direction: Direction | None = None) -> dict[int, Last]:
        """Return the last log of each person who has any, or the last in one direction."""
        name = connection.ops.quote_name(self.table._meta.db_table)
        only = "" if direction is None else "WHERE log.direction = %(direction)s"
        sql = f"""
            SELECT log.person_id, log.at, log.id, log.direction
            FROM (SELECT person_id, MAX(at) AS at FROM {name} AS log {only} GROUP BY person_id)
                AS last
            JOIN {name} AS log ON log.person_id = last.person_id AND log.at = last.at
            {only}
        """  # noqa: S608
        with connection.cursor() as cursor:
            cursor.execute(sql, {"direction": direction and direction.value})
            return latest(cursor.fetchall())

    def log_of(self, person_id: int) -> list[Log]:
        """Return all logs of a person, in any order."""
        return list(self.logs_of(person_id))

    def last_visit(self, person_id: int) -> Visit | None:
        """Return the latest visit, which may be open; None for a person without an entry."""
        logs = self.logs_of(person_id)
        entry = logs.filter(direction=Direction.IN).order_by("-at", "-pk").first()
        if entry is None:
            return None
        later = logs.filter(Q(at__gt=entry.at) | Q(pk__gt=entry.pk), at__gte=entry.at)
        left_at = later.order_by("at", "pk").values_list("at", flat=True).first()
        return Visit(entry.at, left_at, entry.device)

    def logs_of(self, person_id: int) -> QuerySet[Any]:
        logs: QuerySet[Any] = self.table.objects.filter(person_id=person_id)
        return logs

    def stored(self, at: int) -> Any:
        """Return a Unix time in the table's type."""
        return at

    def read(self, logs: QuerySet[Any]) -> list[Passage]:
        return list(map(Passage._make, logs.values_list("at", "direction", "device")))

    def before(self, person_id: int, period: Period) -> list[Passage]:
        """Return the last log before a period as a list, which is empty if there is none."""
        earlier = self.logs_of(person_id).filter(at__lt=self.stored(period.start))
        return self.read(earlier.order_by("-at", "-pk")[:1])

    def within(self, person_id: int, period: Period) -> list[Passage]:
        start, end = map(self.stored, period)
        logs = self.logs_of(person_id).filter(at__gte=start, at__lt=end)
        return self.read(logs.order_by("at", "pk"))

    def after(self, person_id: int, period: Period) -> list[Passage]:
        """Return the first log after a period as a list, which is empty if there is none."""
        later = self.logs_of(person_id).filter(at__gte=self.stored(period.end))
        return self.read(later.order_by("at", "pk")[:1])

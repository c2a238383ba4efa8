from abc import ABC, abstractmethod
from collections.abc import Sequence

from django.apps import apps
from django.db.models import Q, QuerySet

from activity.models import Direction, Log
from activity.periods import Period
from activity.visits import Passage, Visit, seconds_within, visits_within


class Queries(ABC):
    """The questions that the endpoints ask, on one of the tables. All answer the same.

    ``now`` is when the question is asked, in Unix time: until then a visit that goes on counts.
    """

    def __init__(self, alias: str, *, table: str) -> None:
        self.alias = alias
        self.table: type[Log] = apps.get_model("activity", table)

    @abstractmethod
    def passages(self, person_id: int, period: Period) -> list[Passage]:
        """Return the logs of a period, with the neighbours that ``visits_within`` needs."""

    @abstractmethod
    def inside_now(self) -> int:
        """Return how many people's last log is an entry."""

    def seconds(self, person_id: int, periods: Sequence[Period], now: int) -> list[int]:
        """Return how long a person was inside within each of these periods."""
        return [seconds_within(one, self.passages(person_id, one), now) for one in periods]

    def visits(self, person_id: int, period: Period, now: int) -> list[Visit]:
        return visits_within(period, self.passages(person_id, period), now)

    def last_visit(self, person_id: int) -> Visit | None:
        """Return the latest visit, which may go on; None for somebody who never came in."""
        logs = self.logs_of(person_id)
        entry = logs.filter(direction=Direction.IN).order_by("-at", "-pk").first()
        if entry is None:
            return None
        later = logs.filter(Q(at__gt=entry.at) | Q(pk__gt=entry.pk), at__gte=entry.at)
        left_at = later.order_by("at", "pk").values_list("at", flat=True).first()
        return Visit(entry.at, left_at, entry.device)

    def logs_of(self, person_id: int) -> QuerySet[Log]:
        return self.table.objects.filter(person_id=person_id)

    def before(self, person_id: int, period: Period) -> list[Passage]:
        """Return the last log before a period, in a list that is empty if there is none."""
        return as_passages(
            self.logs_of(person_id).filter(at__lt=period.start).order_by("-at", "-pk")[:1]
        )

    def within(self, person_id: int, period: Period) -> list[Passage]:
        logs = self.logs_of(person_id).filter(at__gte=period.start, at__lt=period.end)
        return as_passages(logs.order_by("at", "pk"))

    def after(self, person_id: int, period: Period) -> list[Passage]:
        """Return the first log after a period, in a list that is empty if there is none."""
        return as_passages(
            self.logs_of(person_id).filter(at__gte=period.end).order_by("at", "pk")[:1]
        )


def as_passages(logs: QuerySet[Log]) -> list[Passage]:
    return list(map(Passage._make, logs.values_list("at", "direction", "device")))

from collections.abc import Sequence

from django.db.models import F, Max, Min, OuterRef, Q, QuerySet, Subquery, Sum, Value, Window
from django.db.models.functions import Coalesce, Greatest, Lead, Least

from accounts.models import Person
from activity.models import Direction, Log
from activity.periods import Period
from activity.queries.base import Queries
from activity.visits import Passage


class Best(Queries):
    """One query a question: the database pairs the logs and adds up the times itself."""

    def seconds(self, person_id: int, periods: Sequence[Period], now: int) -> list[int]:
        reach = Period(min(p.start for p in periods), max(p.end for p in periods))
        order = (F("at").asc(), F("id").asc())
        paired = self._reaching_into(person_id, reach).annotate(
            left_at=Coalesce(Window(Lead("at"), order_by=order), Value(now)),
            following=Window(Lead("direction"), order_by=order),
        )
        visits = paired.filter(
            Q(following=None) | Q(following=Direction.OUT), direction=Direction.IN
        )
        totals = visits.aggregate(
            **{str(number): _seconds_within(period) for number, period in enumerate(periods)}
        )
        return [totals[str(number)] or 0 for number in range(len(periods))]

    def passages(self, person_id: int, period: Period) -> list[Passage]:
        logs = self._reaching_into(person_id, period).order_by("at", "id")
        return list(map(Passage._make, logs.values_list("at", "direction", "device")))

    def inside_now(self) -> int:
        logs = self.table.objects.filter(person_id=OuterRef("id")).order_by("-at", "-id")
        last = Person.objects.annotate(last=Subquery(logs.values("direction")[:1]))
        return last.filter(last=Direction.IN).count()

    def _reaching_into(self, person_id: int, period: Period) -> QuerySet[Log]:
        """Return the logs of a period with those before and after it."""
        logs = self.logs_of(person_id)
        before = logs.filter(at__lt=period.start).values("person").values(at=Max("at"))
        after = logs.filter(at__gte=period.end).values("person").values(at=Min("at"))
        return logs.filter(
            at__gte=Coalesce(Subquery(before), period.start),
            at__lte=Coalesce(Subquery(after), period.end),
        )


def _seconds_within(period: Period) -> Sum:
    until = Least(F("left_at"), Value(period.end))
    return Sum(Greatest(until - Greatest(F("at"), Value(period.start)), Value(0)))

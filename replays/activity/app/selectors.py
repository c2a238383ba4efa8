"""Queries behind the activity endpoints."""

import time
from datetime import date
from typing import NamedTuple

from accounts.models import Person
from replays.activity.app.periods import Period, day_of, six_months_of
from replays.activity.app.queries import get_queries
from replays.activity.app.visits import Visit


class Time(NamedTuple):
    """How long a person was inside within a period."""

    period: Period
    inside_s: int


class Times(NamedTuple):
    day: Time
    months: list[Time]
    """The month of the day and the five before it, oldest first."""
    six_months: Time


class Summary(NamedTuple):
    person: Person
    last_visit: Visit | None
    inside_now: int
    """Number of people."""


def accumulated_times(*, person_id: int, day: date) -> Times:
    months = six_months_of(day)
    whole = Period(months[0].start, months[-1].end)
    periods = [day_of(day), *months, whole]
    seconds = get_queries().seconds(person_id, periods, _now())
    first, *monthly, last = map(Time, periods, seconds)
    return Times(first, monthly, last)


def visits_of_day(*, person_id: int, day: date) -> list[Visit]:
    return get_queries().visits(person_id, day_of(day), _now())


def summary(*, person_id: int) -> Summary:
    """Return a person's summary. Raises Person.DoesNotExist."""
    queries = get_queries()
    person = Person.objects.get(id=person_id)
    return Summary(person, queries.last_visit(person_id), queries.inside_now())


def _now() -> int:
    return int(time.time())

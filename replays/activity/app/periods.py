"""Days and months of ACTIVITY_TIME_ZONE, in Unix time."""

from datetime import date, datetime, time, timedelta
from itertools import pairwise
from typing import NamedTuple

from django.conf import settings

FIRST_DAY = date(1971, 1, 1)
LAST_DAY = date(9998, 12, 31)
"""Beyond these the six months before or the day after may not be representable."""
DAY_PATTERN = r"^(19(7[1-9]|[89]\d)|[2-8]\d{3}|9([0-8]\d\d|9([0-8]\d|9[0-8])))-\d\d-\d\d$"
"""What dates from FIRST_DAY to LAST_DAY match, for the API's schema."""


class Period(NamedTuple):
    """Times from ``start`` to before ``end``; a day has 23 hours when clocks go forward."""

    start: int
    end: int


def today() -> date:
    return datetime.now(settings.ACTIVITY_TIME_ZONE).date()


def day_of(day: date) -> Period:
    return Period(_begins(day), _begins(day + timedelta(days=1)))


def six_months_of(day: date) -> list[Period]:
    """Return the month of a day and the five before it, oldest first."""
    number = day.year * 12 + day.month - 1
    firsts = [date(n // 12, n % 12 + 1, 1) for n in range(number - 5, number + 2)]
    return [Period(*both) for both in pairwise(map(_begins, firsts))]


def moment(at: int) -> datetime:
    return datetime.fromtimestamp(at, settings.ACTIVITY_TIME_ZONE)


def _begins(day: date) -> int:
    return int(datetime.combine(day, time.min, settings.ACTIVITY_TIME_ZONE).timestamp())

"""The audit: compares the answers of the queries in use with those of the reference."""

import time
from collections.abc import Iterator
from datetime import date, timedelta
from random import Random

from accounts.models import Person
from replays.activity import DAYS, LAST_DAY
from replays.activity.app import reference
from replays.activity.app.periods import Period, day_of, six_months_of
from replays.activity.app.queries import get_queries
from replays.activity.app.queries.base import Queries

PEOPLE = 50
SEED = 7


def compared_answers() -> Iterator[bool]:
    """Yield for each compared answer whether it is right.

    They are the number of people inside now, and the answers to random people about random days.
    """
    queries, random, now = get_queries(), Random(SEED), int(time.time())  # noqa: S311
    yield queries.inside_now() == reference.inside_now(queries.rows())
    ids = list(Person.objects.order_by("id").values_list("id", flat=True))
    for person_id in random.sample(ids, min(PEOPLE, len(ids))):
        day = LAST_DAY - timedelta(days=random.randrange(DAYS))
        yield from _answers(queries, person_id, day, now)


def _answers(queries: Queries, person_id: int, day: date, now: int) -> Iterator[bool]:
    logs = queries.log_of(person_id)
    months = six_months_of(day)
    periods = [day_of(day), *months, Period(months[0].start, months[-1].end)]
    yield queries.seconds(person_id, periods, now) == reference.seconds(logs, periods, now)
    yield queries.visits(person_id, day_of(day), now) == reference.visits(logs, day_of(day), now)
    yield queries.last_visit(person_id) == reference.last_visit(logs)

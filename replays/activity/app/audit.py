"""The audit: compares the answers of the queries in use with those of the reference."""

import time
from collections.abc import Iterator
from datetime import date, timedelta
from random import Random
from typing import NamedTuple

from accounts.models import Person
from replays.activity.app import reference
from replays.activity.app.periods import Period, day_of, six_months_of
from replays.activity.app.queries import get_queries
from replays.activity.app.queries.base import Queries

DAYS = 28
"""Audited days are chosen among this many before the last day of the log."""


class Findings(NamedTuple):
    compared: int = 0
    """Number of answers."""
    wrong_answers: int = 0

    @property
    def ok(self) -> bool:
        return self.compared > 0 and not self.wrong_answers


def audit(*, people: int, until: date, seed: int) -> Iterator[Findings]:
    """Compare the number of people inside now, and the answers to random people.

    Yields the findings so far, after each answer.
    """
    found = Findings()
    for right in _comparisons(get_queries(), people, until, Random(seed)):  # noqa: S311
        found = Findings(found.compared + 1, found.wrong_answers + (not right))
        yield found


def _comparisons(queries: Queries, people: int, until: date, random: Random) -> Iterator[bool]:
    now = int(time.time())
    yield queries.inside_now() == reference.inside_now(queries.rows())
    ids = list(Person.objects.order_by("id").values_list("id", flat=True))
    for person_id in random.sample(ids, min(people, len(ids))):
        day = until - timedelta(days=random.randrange(DAYS))
        yield from _answers(queries, person_id, day, now)


def _answers(queries: Queries, person_id: int, day: date, now: int) -> Iterator[bool]:
    """Yield for each answer to a person whether it is right."""
    logs = queries.log_of(person_id)
    months = six_months_of(day)
    periods = [day_of(day), *months, Period(months[0].start, months[-1].end)]
    yield queries.seconds(person_id, periods, now) == reference.seconds(logs, periods, now)
    yield queries.visits(person_id, day_of(day), now) == reference.visits(logs, day_of(day), now)
    yield queries.last_visit(person_id) == reference.last_visit(logs)

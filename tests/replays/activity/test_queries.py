"""The implementations, against the reference on random logs and by hand."""

from datetime import date, datetime
from threading import Barrier
from zoneinfo import ZoneInfo

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import Person
from replays.activity.app import reference
from replays.activity.app.periods import Period, day_of, six_months_of
from replays.activity.app.queries import queries as implementations
from replays.activity.app.queries.best import Best
from replays.activity.app.visits import Visit
from tests.parallel import in_parallel

EACH = pytest.mark.parametrize("alias", django_settings.ACTIVITY_IMPLEMENTATIONS)
DAY = date(2025, 3, 30)
"""Clocks go forward in Berlin, and the month ends on the next day."""
ZONES = ["UTC", "Europe/Berlin", "America/Sao_Paulo"]
H = 3600


@pytest.fixture
def asking(settings, db):
    """Write (person, at, direction) logs, and return the queries."""

    def write(alias, logs):
        settings.ACTIVITY_QUERIES = alias
        queries = implementations[alias]
        queries.table.objects.all().delete()
        for person_id in {person_id for person_id, _, _ in logs}:
            Person.objects.get_or_create(id=person_id, defaults={"username": f"person{person_id}"})
        queries.write([(person_id, at, 1 + at % 3, way) for person_id, at, way in logs])
        return queries

    return write


@pytest.fixture
def in_zone(settings):
    def choose(name):
        settings.ACTIVITY_TIME_ZONE = ZoneInfo(name)

    return choose


def borders():
    """Edge cases: at, just before and just after a period's border."""
    months = six_months_of(DAY)
    edges = [*(p.start for p in months), months[-1].end, *day_of(DAY)]
    return st.builds(int.__add__, st.sampled_from(edges), st.sampled_from([-1, 0, 1]))


def moments():
    months = six_months_of(DAY)
    anywhere = st.integers(months[0].start - 40 * 24 * H, months[-1].end + 5 * 24 * H)
    that_day = st.integers(day_of(DAY).start - 5 * H, day_of(DAY).end + 5 * H)
    return borders() | that_day | anywhere


def logs():
    """Entries and exits in any order, also at the same second, of two people."""
    log = st.tuples(st.sampled_from([1, 1, 1, 2]), moments(), st.sampled_from(["in", "out"]))
    return st.lists(log, max_size=12)


@EACH
@settings(
    max_examples=25,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_every_implementation_answers_like_the_reference(alias, data, asking, in_zone):
    in_zone(data.draw(st.sampled_from(ZONES)))
    queries = asking(alias, data.draw(logs()))
    rows = list(queries.rows())
    now = max([data.draw(moments()), *(at for _, at, _, _ in rows)])
    months = six_months_of(DAY)
    periods = [day_of(DAY), *months, Period(months[0].start, months[-1].end)]
    visits = queries.log_of(1)

    assert queries.seconds(1, periods, now) == reference.seconds(visits, periods, now)
    for period in periods:
        assert queries.visits(1, period, now) == reference.visits(visits, period, now)
    assert queries.last_visit(1) == reference.last_visit(visits)
    assert queries.inside_now() == reference.inside_now(rows)


def berlin(*when):
    return int(datetime(2025, *when, tzinfo=ZoneInfo("Europe/Berlin")).timestamp())


MIDNIGHT = berlin(3, 30)
NEXT_MIDNIGHT = berlin(3, 31)
NOW = berlin(4, 10)
BY_HAND = {
    "within the day": ([("in", 9), ("out", 10)], [Visit(9 * H, 10 * H, 1)]),
    "across midnight": ([("in", -2), ("out", 3)], [Visit(0, 3 * H, 1, cut_at_start=True)]),
    "into the next day": ([("in", 20), ("out", 25)], [Visit(20 * H, 23 * H, 1, cut_at_end=True)]),
    "over several days": (
        [("in", -30), ("out", 60)],
        [Visit(0, 23 * H, 1, cut_at_start=True, cut_at_end=True)],
    ),
    "until midnight sharp": ([("in", 20), ("out", 23)], [Visit(20 * H, 23 * H, 1)]),
    "from midnight sharp": ([("in", 0), ("out", 1)], [Visit(0, 1 * H, 1)]),
    "left at the first midnight": ([("in", -1), ("out", 0)], []),
    "came at the second midnight": ([("in", 23), ("out", 24)], []),
    "an empty day": ([("in", -3), ("out", -2), ("in", 30), ("out", 31)], []),
    "still inside": ([("in", 20)], [Visit(20 * H, 23 * H, 1, cut_at_end=True)]),
    "an entry twice": ([("in", 8), ("in", 9), ("out", 10)], [Visit(9 * H, 10 * H, 1)]),
    "an exit twice": ([("in", 8), ("out", 9), ("out", 10)], [Visit(8 * H, 9 * H, 1)]),
    "entered twice, the day between": ([("in", -1), ("in", 30), ("out", 31)], []),
    "left twice, the day before": ([("in", -3), ("out", -2), ("out", 2)], []),
}


@EACH
@pytest.mark.parametrize(("passages", "expected"), BY_HAND.values(), ids=BY_HAND)
def test_a_day_of_23_hours_has_its_visits(alias, passages, expected, asking, in_zone):
    in_zone("Europe/Berlin")
    logs = [(1, MIDNIGHT + hour * H, direction) for direction, hour in passages]

    found = asking(alias, logs).visits(1, day_of(DAY), NOW)

    shifted = [
        v._replace(entered_at=v.entered_at + MIDNIGHT, left_at=v.left_at + MIDNIGHT)
        for v in expected
    ]
    assert [v._replace(device=1) for v in found] == shifted
    seconds = sum(v.left_at - v.entered_at for v in expected)
    assert asking(alias, logs).seconds(1, [day_of(DAY)], NOW) == [seconds]


@EACH
def test_an_open_visit_counts_until_now_and_is_not_cut(alias, asking, in_zone):
    in_zone("Europe/Berlin")
    queries = asking(alias, [(1, MIDNIGHT + 8 * H, "in")])
    now = MIDNIGHT + 10 * H

    (visit,) = queries.visits(1, day_of(DAY), now)
    assert (visit.left_at, visit.cut_at_end) == (None, False)
    assert queries.seconds(1, [day_of(DAY)], now) == [2 * H]
    assert queries.visits(1, Period(NEXT_MIDNIGHT, NEXT_MIDNIGHT + H), now) == []


@EACH
def test_people_whose_last_log_is_an_entry_are_inside(alias, asking):
    logs = [
        (1, 10, "in"),
        (2, 10, "in"),
        (2, 20, "out"),
        (3, 5, "out"),
        (3, 5, "in"),
        (4, 9, "out"),
    ]

    assert asking(alias, logs).inside_now() == 2


def test_one_thread_counts_the_people_inside_and_the_others_wait(transactional_db, monkeypatch):
    monkeypatch.setattr("replays.activity.app.queries.best.KEEP_S", 60)
    best, all_connected = Best("best", table="IndexedLog"), Barrier(4)

    def queries_asked():
        with CaptureQueriesContext(connection) as asked:
            all_connected.wait(20)
            best.inside_now()
        return len(asked)

    assert sum(in_parallel(4 * [queries_asked])) == 1

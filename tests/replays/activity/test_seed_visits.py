"""A seeded log: as large as asked for, the same each time, and like a real one."""

from datetime import date
from itertools import pairwise

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Max, Min

from replays.activity.app.models import Card, IndexedLog, PlainLog
from replays.activity.app.periods import day_of
from replays.activity.app.queries import queries
from tests.conftest import make_people


@pytest.fixture
def people(db):
    make_people(10)


def logs(table):
    return list(table.objects.order_by("pk").values_list("person_id", "at", "device", "direction"))


def test_both_tables_get_the_same_log(people, settings):
    for settings.ACTIVITY_QUERIES in ("as_found", "best"):
        call_command("seed_visits", rows=1234)

    assert len(logs(PlainLog)) == 1234
    assert logs(PlainLog) == logs(IndexedLog)


def test_the_published_tables_get_the_same_log_in_their_own_shape(people, settings):
    for settings.ACTIVITY_QUERIES in ("best", "tags_indexed"):
        call_command("seed_visits", rows=1234)

    ours, theirs = (
        sorted((person, at, way) for person, at, _, way in queries[alias].rows())
        for alias in ("best", "tags_indexed")
    )
    assert ours == theirs
    assert Card.objects.count() == 10


def test_logs_are_sorted_by_time_within_six_months(people):
    call_command("seed_visits", rows=1000, until=date(2025, 12, 31))

    times = IndexedLog.objects.order_by("pk").values_list("at", flat=True)
    assert list(times) == sorted(times)
    found = IndexedLog.objects.aggregate(first=Min("at"), last=Max("at"))
    assert day_of(date(2025, 7, 1)).start <= found["first"]
    assert found["last"] < day_of(date(2025, 12, 31)).end


def test_some_entries_and_exits_were_missed(people):
    call_command("seed_visits", rows=10_000)

    doubled = 0
    for person_id in range(1, 11):
        log = list(IndexedLog.objects.filter(person_id=person_id).order_by("at", "pk"))
        doubled += sum(a.direction == b.direction for a, b in pairwise(log))
    assert 20 < doubled < 400


def test_a_second_log_is_refused(people):
    call_command("seed_visits", rows=100)

    with pytest.raises(CommandError, match="there are logs already"):
        call_command("seed_visits", rows=100)


@pytest.mark.parametrize("rows", [5, -1])
def test_everybody_has_at_least_one_log(people, rows):
    with pytest.raises(CommandError, match="at least one each"):
        call_command("seed_visits", rows=rows)

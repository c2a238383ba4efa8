"""A seeded log: as large as asked for, the same each time, and like a real one."""

from datetime import date

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import Max, Min

from replays.activity import LAST_DAY
from replays.activity.app.models import IndexedLog
from replays.activity.app.periods import day_of
from replays.activity.app.queries import queries
from tests.conftest import make_people


@pytest.fixture
def people(transactional_db):
    make_people(10)


@pytest.mark.parametrize("alias", ["as_found", "tags_indexed"])
def test_all_tables_get_the_same_log(alias, people, settings):
    for settings.ACTIVITY_QUERIES in ("best", alias):
        call_command("seed_visits", rows=1234)

    ours, theirs = (
        sorted((person_id, at, way) for person_id, at, _, way in queries[name].rows())
        for name in ("best", alias)
    )
    assert len(ours) == 1234
    assert ours == theirs


def test_logs_are_sorted_by_time_within_six_months(people):
    call_command("seed_visits", rows=1000)

    times = IndexedLog.objects.order_by("pk").values_list("at", flat=True)
    assert list(times) == sorted(times)
    found = IndexedLog.objects.aggregate(first=Min("at"), last=Max("at"))
    assert day_of(date(2025, 7, 1)).start <= found["first"]
    assert found["last"] < day_of(LAST_DAY).end


@pytest.mark.skipif(connection.vendor != "mysql", reason="is about MySQL's statistics")
def test_the_first_query_has_the_right_plan(people, settings):
    settings.ACTIVITY_QUERIES = "tags_indexed"
    call_command("seed_visits", rows=5000)

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT MAX(cardinality) FROM information_schema.statistics"
            " WHERE table_schema = DATABASE() AND table_name = 'activity_tag_indexed'"
        )
        assert cursor.fetchone()[0] > 4000


def test_a_second_log_is_refused(people):
    call_command("seed_visits", rows=100)

    with pytest.raises(CommandError, match="there are logs already"):
        call_command("seed_visits", rows=100)


@pytest.mark.parametrize("rows", [5, -1])
def test_everybody_has_at_least_one_log(people, rows):
    with pytest.raises(CommandError, match="at least one each"):
        call_command("seed_visits", rows=rows)

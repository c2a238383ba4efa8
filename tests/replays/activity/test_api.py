"""The three endpoints: accumulated times, a day's visits, and the summary."""

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from replays.activity.app.periods import DAY_PATTERN, FIRST_DAY, LAST_DAY
from replays.activity.app.queries import get_queries
from tests.conftest import client_of


def at(*when):
    return int(datetime(*when, tzinfo=UTC).timestamp())


@pytest.fixture
def member(friends):
    """The client of person 1, who stayed over New Year; person 2 is inside."""
    table = get_queries().table
    table.objects.bulk_create(
        table(person_id=person_id, at=moment, device=7, direction=direction)
        for person_id, moment, direction in (
            (1, at(2025, 12, 31, 22), "in"),
            (1, at(2026, 1, 1, 3), "out"),
            (2, at(2026, 1, 2, 9), "in"),
        )
    )
    return client_of(1)


def test_times_cover_the_day_its_month_and_six_months(member):
    times = member.get("/v1/activity/times/?day=2026-01-01").json()

    assert times["day"] == {
        "begins_at": "2026-01-01T00:00:00+00:00",
        "ends_at": "2026-01-02T00:00:00+00:00",
        "inside_s": 3 * 3600,
    }
    assert [month["begins_at"][:7] for month in times["months"]] == [
        *("2025-08", "2025-09", "2025-10", "2025-11", "2025-12", "2026-01")
    ]
    assert [month["inside_s"] for month in times["months"]] == [0, 0, 0, 0, 2 * 3600, 3 * 3600]
    assert times["six_months"]["inside_s"] == 5 * 3600


def test_a_visit_is_cut_at_midnight(member):
    answer = member.get("/v1/activity/visits/?day=2025-12-31").json()

    assert answer["visits"] == [
        {
            "entered_at": "2025-12-31T22:00:00+00:00",
            "left_at": "2026-01-01T00:00:00+00:00",
            "device": 7,
            "cut_at_start": False,
            "cut_at_end": True,
        }
    ]


def test_midnight_is_that_of_the_activity_time_zone(member, settings):
    settings.ACTIVITY_TIME_ZONE = ZoneInfo("Asia/Tokyo")

    (visit,) = member.get("/v1/activity/visits/?day=2026-01-01").json()["visits"]

    assert visit["entered_at"] == "2026-01-01T07:00:00+09:00"
    assert visit["cut_at_start"] is visit["cut_at_end"] is False


def test_the_summary_has_the_last_visit_and_the_people_inside(member):
    summary = member.get("/v1/activity/summary/").json()

    assert summary["person"] == "person1"
    assert summary["last_visit"]["left_at"] == "2026-01-01T03:00:00+00:00"
    assert summary["inside_now"] == 1


def test_a_process_counts_the_people_inside_once_a_second(member, monkeypatch):
    monkeypatch.setattr("replays.activity.app.queries.best.KEEP_S", 60)
    get_queries()._counted = (float("-inf"), 0)
    for _ in range(3):
        with CaptureQueriesContext(connection) as queries:
            assert member.get("/v1/activity/summary/").json()["inside_now"] == 1
    assert not [query for query in queries if "COUNT" in query["sql"]]

    monkeypatch.setattr("replays.activity.app.queries.best.KEEP_S", -1)
    get_queries().write([(3, at(2026, 1, 2, 9), 7, "in")])

    assert member.get("/v1/activity/summary/").json()["inside_now"] == 2


def test_the_last_visit_may_be_open(member):
    assert client_of(2).get("/v1/activity/summary/").json()["last_visit"]["left_at"] is None


def test_the_default_day_is_today(member):
    today = datetime.now(UTC).date()

    assert member.get("/v1/activity/times/").json()["day"]["begins_at"].startswith(str(today))
    assert member.get("/v1/activity/visits/").json() == {"visits": []}


@pytest.mark.parametrize(
    "day",
    [
        *("", "today", "2025-02-29", "2025-1-31", "20250131", "2025-W05-5", "2025-01-31T00:00"),
        *("0001-01-01", "1970-12-31", "9999-12-31", "2025-01-31%00", "-1", "9" * 5000),
        pytest.param("\N{ARABIC-INDIC DIGIT TWO}025-01-31", id="another script"),
    ],
)
@pytest.mark.parametrize("page", ["times", "visits"])
def test_an_invalid_day_is_refused(member, page, day):
    response = member.get(f"/v1/activity/{page}/?day={day}")

    assert response.status_code == 400
    assert response.json().keys() == {"day"}


@pytest.mark.parametrize("day", ["1971-01-01", "9998-12-31"])
def test_the_first_and_the_last_day_are_accepted(member, day):
    assert member.get(f"/v1/activity/times/?day={day}").status_code == 200


def test_the_schema_tells_the_first_and_the_last_year():
    years = [year for year in range(10_000) if re.search(DAY_PATTERN, f"{year:04}-12-31")]

    assert years == list(range(FIRST_DAY.year, LAST_DAY.year + 1))


def test_the_summary_of_a_deleted_person_is_not_found(db):
    assert client_of(99).get("/v1/activity/summary/").status_code == 404

"""What PostgreSQL says by other errors than the rest, or not at all."""

import time
from contextlib import suppress

import pytest
from django.db import DatabaseError, InternalError, OperationalError, connection, transaction

from accounts.models import Person
from db import outcomes
from db.prepared import Prepared
from db.writes import why_not
from feed.delivery import _may_be_about_a_post
from tests.conftest import client_of, make_people

pytestmark = [
    pytest.mark.skipif(connection.vendor != "postgresql", reason="is about PostgreSQL"),
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture(autouse=True)
def of_this_test():
    """A session whose settings nobody has after the test."""
    connection.close()
    yield
    connection.close()


def run(sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)


def test_a_server_that_takes_no_writes_is_not_taken_for_a_post_that_fails():
    make_people(1)
    run("SET default_transaction_read_only = on")

    with pytest.raises(OperationalError) as refused:
        Person.objects.update(is_active=False)

    assert not _may_be_about_a_post(refused.value)
    assert why_not() == "read-only"
    answer = client_of(1).post("/v1/posts/", {"body": "hello"}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (503, "not_stored")


def test_a_transaction_that_was_idle_for_too_long_is_over():
    run("SET idle_in_transaction_session_timeout = 100")
    outcomes.begin()

    with pytest.raises(OperationalError), transaction.atomic():  # noqa: PT012
        make_people(1)
        time.sleep(0.5)

    assert not outcomes.may_have_stored()
    assert not Person.objects.exists()


def test_a_commit_after_an_error_that_nobody_minded_is_one():
    """The server answers such a COMMIT with ROLLBACK, which the driver takes for success."""
    with pytest.raises(OperationalError, match="nothing is stored"), transaction.atomic():  # noqa: PT012
        make_people(1)
        with suppress(DatabaseError):
            run("SELECT 1 / 0")

    assert not Person.objects.exists()


def test_the_server_gives_up_a_statement_before_its_client_does(monkeypatch):
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "read_timeout", 1.5)
    with pytest.raises(OperationalError, match="statement timeout"):
        run("SELECT pg_sleep(5)")

    run("SELECT 1")


def test_other_internal_errors_stay_what_they_are():
    with pytest.raises(InternalError), transaction.atomic():  # noqa: PT012
        with suppress(DatabaseError):
            run("SELECT 1 / 0")
        run("SELECT 1")


def test_many_rows_may_take_longer_than_an_answer(monkeypatch):
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "read_timeout", 3)
    monkeypatch.setattr("db.postgresql.base.ROWS_AT_ONCE", 1)

    with connection.cursor() as cursor:
        cursor.executemany("SELECT pg_sleep(%s)", [(0.5,)] * 8)


def test_the_server_keeps_the_plans_of_prepared_statements_only():
    with connection.cursor() as cursor:
        for number in range(10):
            cursor.execute(Prepared("SELECT %s::int"), [number])
            assert cursor.fetchall() == [(number,)]
            cursor.execute("SELECT 1 WHERE %s = 7", [7])
            assert cursor.fetchall() == [(1,)]
        cursor.execute("SELECT statement FROM pg_prepared_statements")
        assert cursor.fetchall() == [("SELECT $1::int",)]


def test_options_have_no_space_at_the_end_which_pgbouncer_refuses():
    options = connection.get_connection_params()["options"]

    assert options == options.rstrip()

"""docs/carry-it.md as printed, and its three mistakes."""

import re
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.db import connection as django

PAGE = Path("docs/carry-it.md").read_text()
AUTHOR, READER, LATER = 7, 8, 9
COLUMNS = {"postgresql": 0, "mysql": 1, "sqlite": 2}
ROWS = re.findall(r"^\| `(.+?)` \| (?:`(.+?)`)? ?\| (?:`(.+?)`)? ?\|$", PAGE, re.MULTILINE)

pytestmark = pytest.mark.django_db(transaction=True)
several_writers = pytest.mark.skipif(django.vendor == "sqlite", reason="it has one writer")


def written(text):
    """Return what the page says for the database of the tests."""
    for row in ROWS:
        text = text.replace(row[0], row[COLUMNS[django.vendor]])
    return text


TABLES, POST, READ, FOLLOW = (
    [statement.strip() for statement in block.split(";") if statement.strip()]
    for block in re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
)
(DRAINER,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def connect(tmp_path):
    """Return a function that opens a connection to the page's tables, as the page says."""
    opened = []

    def connect():
        if django.vendor == "sqlite":
            path = tmp_path / "posts.sqlite3"
            opened.append(sqlite3.connect(path, isolation_level=None))
            return opened[-1]
        opened.append(django.get_new_connection(django.get_connection_params()))
        if django.vendor == "mysql":
            opened[-1].autocommit(True)
            run(opened[-1], "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
        else:
            opened[-1].autocommit = True
        return opened[-1]

    admin = connect()
    run(admin, *TABLES)
    run(admin, f"INSERT INTO follow (author_id, reader_id) VALUES ({AUTHOR}, {READER})")
    yield connect
    for one in opened[1:]:
        with suppress(django.Database.OperationalError):  # it is closed
            one.close()
    for table in ("timeline", "follow", "post"):
        run(admin, f"DROP TABLE {table}")
    admin.close()


def run(connection, *statements):
    """Carry out statements; return the rows of the last one."""
    cursor = connection.cursor()
    for statement in statements:
        cursor.execute(written(statement))
    return cursor.fetchall() if cursor.description else []


def drainer(*changed):
    """Return the page's module, with pieces of its text changed."""
    text = DRAINER
    for old, new in changed:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    module = SimpleNamespace()
    exec(written(text), module.__dict__)
    return module


def die(module, connection, other):
    """Let a drainer die where its text says so; return when the database has noticed."""
    with pytest.raises(ZeroDivisionError), closing(connection):
        module.drain(connection)
    run(other, "UPDATE post SET body = 'unlocked'")


def feed(connection, reader):
    (statement,) = READ
    return [row[0] for row in run(connection, re.sub(r"\b9\b", str(reader), statement))]


def test_there_are_forty_lines():
    assert len([line for line in DRAINER.splitlines() if line.strip()]) <= 40


def test_what_is_posted_is_delivered_once_and_shown_to_whom_it_concerns(connect):
    one = connect()
    run(one, *POST, *POST)
    assert [drainer().drain(one), drainer().drain(one)] == [2, 0]
    run(one, "UPDATE post SET delivered_at = NULL")
    assert drainer().drain(one) == 2  # again: nothing changes

    assert feed(one, AUTHOR) == feed(one, READER) == [2, 1]
    assert feed(one, LATER) == []

    run(one, *FOLLOW, *FOLLOW)
    assert feed(one, LATER) == [2, 1]

    run(one, f"DELETE FROM follow WHERE reader_id = {LATER}", "DELETE FROM post WHERE id = 2")
    assert (feed(one, LATER), feed(one, READER)) == ([], [1])


def test_a_drainer_that_dies_leaves_its_posts_to_another(connect):
    dying, other = connect(), connect()
    run(other, *POST)
    killed = drainer(('cursor.execute("COMMIT")', "1 / 0"))

    die(killed, dying, other)

    assert drainer().drain(other) == 1
    assert feed(other, READER) == [1]


@several_writers
def test_two_drainers_do_not_wait_for_each_other(connect):
    one, other = connect(), connect()
    run(one, *POST)
    run(one, "BEGIN", drainer().CLAIM)
    run(other, *POST)

    assert drainer().drain(other) == 1
    run(one, "ROLLBACK")
    assert drainer().drain(other) == 1


@several_writers
@pytest.mark.parametrize("mistaken", [False, True])
def test_a_claim_by_id_loses_what_is_committed_late(connect, mistaken):
    early, late = connect(), connect()
    run(late, "BEGIN", *POST)
    run(early, *POST)
    drainer().drain(early)  # post 2
    run(late, "COMMIT")
    drainer(*[("delivered_at IS NULL", "id > 2")] if mistaken else []).drain(early)

    assert (feed(early, READER) == [2, 1]) is not mistaken


@pytest.mark.parametrize("mistaken", [False, True])
def test_a_receipt_before_the_deliveries_loses_those_of_a_drainer_that_dies(connect, mistaken):
    dying, other = connect(), connect()
    run(other, *POST)
    deliver, receipt = (line for line in DRAINER.splitlines() if ".format(" in line)
    first = f'{receipt}; cursor.execute("COMMIT")' if mistaken else deliver

    die(drainer((deliver, f"{first}; 1 / 0")), dying, other)
    drainer().drain(other)

    assert (feed(other, READER) == [1]) is not mistaken


@several_writers
@pytest.mark.parametrize("mistaken", [False, True])
def test_following_and_copying_in_one_transaction_loses_what_is_delivered_meanwhile(
    connect, mistaken
):
    follower, other = connect(), connect()
    follow, copy = FOLLOW
    if mistaken:
        run(follower, "BEGIN", follow, copy)
    else:
        run(follower, follow)
    run(other, *POST)
    drainer().drain(other)
    run(follower, *["COMMIT"] if mistaken else [copy])

    assert (feed(other, LATER) == [1]) is not mistaken

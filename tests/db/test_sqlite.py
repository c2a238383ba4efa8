"""The SQLite backend: its settings, its tables, and the queue of its writers."""

import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest
from django.db import OperationalError, connection, connections, transaction

from accounts.models import Person

HOLD_THE_LOCK = """
import sqlite3, sys
other = sqlite3.connect(sys.argv[1], isolation_level=None)
other.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def locked_file():
    """Another program holds SQLite's write lock, for which this one waits 100 ms."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout=100")
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD_THE_LOCK, connection.settings_dict["NAME"]],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert other.stdout.readline() == b"held\n"
    try:
        yield
    finally:
        other.communicate()
        connection.close()


def in_a_thread(work):
    """Run ``work`` in a thread with its own connection; return the thread."""

    def run():
        try:
            work()
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


@pytest.mark.parametrize(
    ("pragma", "value"), [("journal_mode", "wal"), ("synchronous", 1), ("temp_store", 2)]
)
def test_connections_have_their_pragmas(pragma, value, db):
    with connection.cursor() as cursor:
        assert cursor.execute(f"PRAGMA {pragma}").fetchone() == (value,)


@pytest.mark.parametrize("table", ["feed_timeline_setbased", "accounts_follow"])
def test_tables_clustered_by_their_primary_key_have_no_rowid(table, db):
    with connection.cursor() as cursor:
        cursor.execute("SELECT sql FROM sqlite_master WHERE name = %s", [table])
        assert cursor.fetchone()[0].endswith("WITHOUT ROWID")
        indexes = cursor.execute(f"PRAGMA index_list({table})").fetchall()
    assert "pk" in {index[3] for index in indexes}


def test_writers_wait_for_each_other_and_none_fails(transactional_db):
    def write(number):
        for turn in range(20):
            with transaction.atomic():
                count = Person.objects.count()  # a stale count would be an error, not a wait
                Person.objects.create(username=f"{number}-{turn}-{count}", password="!")

    threads = [in_a_thread(lambda number=number: write(number)) for number in range(8)]
    for thread in threads:
        thread.join()

    names = Person.objects.order_by("id").values_list("username", flat=True)
    assert [int(name.split("-")[2]) for name in names] == list(range(160))


def test_a_transaction_takes_no_lock_before_its_first_statement(transactional_db):
    with transaction.atomic():
        thread = in_a_thread(lambda: Person.objects.create(username="other", password="!"))
        thread.join()
        assert Person.objects.filter(username="other").exists()


def test_a_waiting_writer_is_woken_by_the_other_instead_of_polling(transactional_db):
    """SQLite's own busy handler, which sleeps for up to 100 ms at a time, has no time at all."""
    is_about_to_write = threading.Event()

    def write():
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA busy_timeout=0")
        is_about_to_write.set()
        with transaction.atomic():
            Person.objects.create(username="second", password="!")

    with transaction.atomic():
        Person.objects.create(username="first", password="!")
        thread = in_a_thread(write)
        assert is_about_to_write.wait(20)
        time.sleep(0.2)
    thread.join()

    names = Person.objects.order_by("id").values_list("username", flat=True)
    assert list(names) == ["first", "second"]


def test_a_rolled_back_transaction_lets_the_next_one_in(transactional_db):
    with transaction.atomic():
        Person.objects.create(username="first", password="!")
        transaction.set_rollback(True)

    in_a_thread(lambda: Person.objects.create(username="second", password="!")).join()

    assert list(Person.objects.values_list("username", flat=True)) == ["second"]


def test_writers_wait_for_programs_outside_of_the_queue(transactional_db):
    """If that takes too long, the transaction fails and leaves the queue."""
    with locked_file(), pytest.raises(OperationalError, match="locked"), transaction.atomic():
        Person.objects.create(username="refused", password="!")

    in_a_thread(lambda: Person.objects.create(username="accepted", password="!")).join()
    assert list(Person.objects.values_list("username", flat=True)) == ["accepted"]

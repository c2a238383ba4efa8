"""Our MySQL backend; make test runs this on MariaDB."""

import time

import pytest
from django.db import connection, connections, transaction

from accounts.models import Person
from db.mysql.base import CHECK_AGAIN_S

pytestmark = [
    pytest.mark.skipif(connection.vendor != "mysql", reason="is about MySQL's sessions"),
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture
def ended():
    """Let the server end this thread's session, as if it had been idle for too long."""
    connection.ensure_connection()
    number = connection.connection.thread_id()
    other = connections.create_connection("default")
    with other.cursor() as cursor:
        cursor.execute(f"KILL {number}")
    other.close()
    time.sleep(CHECK_AGAIN_S)


def test_a_command_goes_on_when_its_idle_session_was_ended(ended):
    assert Person.objects.count() == 0


def test_a_transaction_begins_when_its_idle_session_was_ended(ended):
    with transaction.atomic():
        assert Person.objects.count() == 0

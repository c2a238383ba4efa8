"""Pools: requests that wait for the connections of slow ones, and those that don't."""

import threading
from contextlib import closing, contextmanager
from http.client import HTTPConnection

import MySQLdb
import pytest
from django.db.utils import ConnectionHandler

from accounts.models import Person
from lab.faults.running import serving
from launch.service import Seed
from launch.variants import Variant
from replays.export.app.expensive import Router
from tests.commands import python
from tests.conftest import client_of

INSTALLED = {"DJANGO_SETTINGS_MODULE": "replays.export.settings"}
SPLIT = {"DB_POOL_SIZE": "1", "EXPENSIVE_READS": "1", "DB_POOL_TIMEOUT_S": "0.5"}
PROCESS = {"WEB_WORKERS": "1", "WEB_THREADS": "4"}


@pytest.fixture
def service(tmp_path):
    """A service with two pools of one connection each."""
    settings = INSTALLED | SPLIT | PROCESS
    variant = Variant.plain("mysql_tuned-pools", "mysql_tuned", settings)
    with serving(variant, tmp_path, Seed(people=10, friends=2)) as running:
        yield running.service


@contextmanager
def a_slow(path, service):
    """Block a request that reads posts in the database until the end of the block."""
    answers = []
    with closing(connect(service)) as admin:
        admin.cursor().execute("LOCK TABLES feed_post WRITE")
        thread = threading.Thread(target=lambda: answers.append(ask(service, "GET", path)))
        thread.start()
        while not waits_for_the_lock(service):
            pass
        yield
    thread.join(timeout=10)
    assert answers == [(200, None)]


def connect(service):
    port = service.servers[0].port
    return MySQLdb.connect(host="127.0.0.1", port=port, user="root", database="feed")


def waits_for_the_lock(service):
    with closing(connect(service)) as admin:
        cursor = admin.cursor()
        cursor.execute("SHOW PROCESSLIST")
        return any("Waiting for table" in (row[6] or "") for row in cursor.fetchall())


def ask(service, method, path, body=None, person=1):
    """Send a person's request; return status and Retry-After."""
    token = service.tokens.read_text().splitlines()[person].partition(",")[2]
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    with closing(HTTPConnection("127.0.0.1", service.port, timeout=20)) as connection:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status, answer.headers["Retry-After"]


def report(service, person=1):
    return ask(service, "GET", "/v1/me/report/", person=person)


def log_in(service):
    """Log in as an unknown person, which takes a query."""
    return ask(service, "POST", "/v1/token/", '{"username": "nobody", "password": "x"}')


@pytest.mark.parametrize("path", ["/v1/me/report/", "/v1/me/export/"])
def test_requests_wait_for_a_slow_one_in_the_same_pool_and_not_in_another(path, service):
    with a_slow(path, service):
        assert log_in(service) == (401, None)
        assert report(service, person=2) == (503, "1")
    assert report(service) == (200, None)


@pytest.mark.django_db
def test_a_pool_that_makes_a_connection_changes_none_that_is_in_use(service):
    """Else the next transaction of another thread would be a savepoint outside of any."""
    pool = {"ENGINE": "replays.databases", "POOL_OPTIONS": {"POOL_SIZE": 2, "MAX_OVERFLOW": 0}}
    server = {"HOST": "127.0.0.1", "PORT": service.servers[0].port, "USER": "root", "NAME": "feed"}
    handler = ConnectionHandler({"default": {}, "pooled": pool | server})

    with closing(handler.create_connection("pooled")) as first:
        first.ensure_connection()
        with closing(handler.create_connection("pooled")) as second:
            second.ensure_connection()
            assert first.connection.driver_connection != second.connection.driver_connection
            assert first.get_autocommit()


def test_a_streamed_answer_reads_there_until_the_next_request(friends, settings):
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "replays.export.app.expensive.Middleware"]
    settings.EXPENSIVE_ALIAS = "replica1"
    client, router = client_of(1), Router()

    response = client.get("/v1/me/export/")
    assert router.db_for_read(Person) == "replica1"
    assert list(response.streaming_content)

    client.get("/v1/feed/")
    assert router.db_for_read(Person) is None


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"DB_POOL_SIZE": "5"}, "need MySQL"),
        ({"EXPENSIVE_READS": "5"}, "need MySQL"),
        ({"EXPENSIVE_READS": "replica1"}, "'replica1' is neither a size nor one of: default"),
    ],
    ids=str,
)
def test_an_impossible_pool_is_refused_at_the_start(wrong, complaint, tmp_path):
    database = {"DATABASE_URL": f"sqlite:///{tmp_path}/feed.sqlite3"}

    done = python("manage.py", "check", **INSTALLED, **database, **wrong)

    assert done.returncode != 0
    assert complaint in done.stderr

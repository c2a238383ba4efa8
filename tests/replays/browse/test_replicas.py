"""Reading from a replica, on real servers: a paused replica shows which server is read."""

import json
import os
import time
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from typing import NamedTuple

import pytest
from django.core.signing import TimestampSigner

from launch.processes import Processes, RunFailed
from launch.service import Seed
from replays import replicated
from replays.browse.experiment import EXPERIMENT
from replays.browse.service import BrowseService


class Engine(NamedTuple):
    pause: str
    is_paused: str
    go_on: str
    waits: str
    """Returns on a replica what changes when a read has waited there in vain."""
    far: str
    """A position that no replica reaches."""
    wrong: str
    """What is almost a position."""


ENGINES = {
    "mysql": Engine(
        pause="STOP SLAVE SQL_THREAD",
        is_paused="SELECT 1",
        go_on="START SLAVE SQL_THREAD",
        waits="""
            SELECT variable_value FROM information_schema.global_status
             WHERE variable_name = 'MASTER_GTID_WAIT_COUNT'
        """,
        far="0-1-999999999",
        wrong="0-1-" + "9" * 30,
    ),
    "postgresql": Engine(
        pause="SELECT pg_wal_replay_pause()",
        is_paused="SELECT pg_get_wal_replay_pause_state() = 'paused'",
        go_on="SELECT pg_wal_replay_resume()",
        waits="""
            SELECT max(query_start) FROM pg_stat_activity
             WHERE query LIKE '%pg_last_wal_replay_lsn()%' AND pid <> pg_backend_pid()
        """,
        far="FFFFFFFF/FFFFFFFF",
        wrong="0/" + "9" * 30,
    ),
}


def engine_of(service):
    return ENGINES[service.variant.database.engine]


@pytest.fixture(scope="module", params=["mysql_tuned", "postgres_tuned"])
def service(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("service")
    with Processes(folder / "logs") as processes:
        variant = EXPERIMENT.variant(f"{request.param}-1server-1replica-counter")
        service = BrowseService(variant, processes, folder)
        service.prepare(Seed(people=3, friends=2), [("seed_likes", "--posts=3", "--likes=0")])
        service.start()
        processes.stop("replication")  # it waits for positions too
        yield service


@pytest.fixture
def clients(service):
    """Two people."""
    tokens = dict(line.split(",") for line in service.tokens.read_text().split())
    with closing(HTTPConnection("127.0.0.1", service.port, timeout=10)) as connection:
        yield [Client(connection, tokens[person]) for person in "12"]


@pytest.fixture
def client(clients):
    return clients[0]


class Client:
    """A client that keeps the cookie, as browsers do."""

    def __init__(self, connection, token):
        self.connection = connection
        self.headers = {"Authorization": f"Bearer {token}"}

    def ask(self, method, path):
        self.connection.request(method, path, headers=self.headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if cookie := answer.getheader("Set-Cookie"):
            self.headers["Cookie"] = cookie.partition(";")[0]
        return answer.status, json.loads(text) if text else None

    def likes(self, post_id):
        return self.ask("GET", f"/v1/posts/{post_id}/")[1]["likes"]


@contextmanager
def standing_still(service):
    """Pause replication within the block."""
    engine = engine_of(service)
    with on_replica(service) as cursor:
        cursor.execute(engine.pause)
        while not answer_to(cursor, engine.is_paused):
            time.sleep(0.01)
        yield
        cursor.execute(engine.go_on)
    service.replicas.catch_up()


@contextmanager
def on_replica(service):
    (replica,) = service.replicas.servers
    with closing(replica.connect()) as connection:
        yield connection.cursor()


def answer_to(cursor, query):
    cursor.execute(query)
    return cursor.fetchone()[0]


def test_writers_read_their_own_writes_and_others_the_replica(service, client):
    with standing_still(service):
        assert client.ask("PUT", "/v1/posts/1/like/") == (204, None)

        assert client.likes(1) == 1
        client.headers.pop("Cookie")
        assert client.likes(1) == 0

    assert client.likes(1) == 1


def test_writers_read_from_a_replica_that_has_their_write(service, clients):
    client, other = clients
    client.ask("PUT", "/v1/posts/2/like/")
    service.replicas.catch_up()
    with standing_still(service):
        other.ask("PUT", "/v1/posts/2/like/")  # only the primary has this

        assert client.likes(2) == 1
        assert other.likes(2) == 2


def signed(position, key):
    return TimestampSigner(key=b"django.http.cookies" + key.encode(), salt="written").sign(position)


def waits(service):
    """Return what changes when a read has waited in vain for the replica."""
    with on_replica(service) as cursor:
        return answer_to(cursor, engine_of(service).waits)


@pytest.mark.parametrize(
    "cookie",
    [
        lambda far: "",
        lambda far: "unknown",
        lambda far: far,
        lambda far: signed(far, "another key"),
        lambda far: signed(far, "")[:-1],
        lambda far: "'; DROP x",
    ],
    ids=["none", "unknown", "unsigned", "another key", "cut", "SQL"],
)
def test_a_cookie_that_is_not_ours_waits_for_nothing_and_reads_the_primary(service, cookie, client):
    with standing_still(service):
        client.ask("PUT", "/v1/posts/3/like/")
        client.headers["Cookie"] = f"written={cookie(engine_of(service).far)}"
        before = waits(service)

        assert client.likes(3) == 1

        assert waits(service) == before
        client.ask("DELETE", "/v1/posts/3/like/")


@pytest.mark.parametrize("kind", ["far", "unknown", "wrong", "'; DROP TABLE x"])
def test_a_position_that_no_replica_reaches_is_read_from_the_primary(service, client, kind):
    position = getattr(engine_of(service), kind, kind)
    with standing_still(service):
        client.ask("PUT", "/v1/posts/3/like/")
        client.headers["Cookie"] = f"written={signed(position, service.secret_key)}"
        before = waits(service)

        assert client.likes(3) == 1

        assert (waits(service) != before) == (kind == "far")
        client.ask("DELETE", "/v1/posts/3/like/")


def test_probes_and_whoever_has_no_token_wait_for_nothing(service, client):
    before = waits(service)

    client.headers = {"Cookie": f"written={signed(engine_of(service).far, service.secret_key)}"}
    for path in ("/healthz", "/readyz", "/statusz", "/metrics", "/v1/feed/"):
        client.ask("GET", path)

    assert waits(service) == before


def test_an_unreachable_replica_is_left_out(service, client):
    """Runs last: it stops the replica."""
    (replica,) = service.replicas.servers
    assert client.ask("GET", "/v1/posts/1/")[0] == 200  # so that the app server is connected
    os.kill(service.processes.pids(replica.role)[-1], replica.stop_signal)
    while replica.is_ready():
        time.sleep(0.05)

    statuses = [client.ask("GET", "/v1/posts/1/")[0] for _ in range(20)]

    assert statuses.count(200) >= 18
    assert set(statuses[3:]) == {200}


def test_replicas_of_mysql_are_refused_before_anything_starts(tmp_path, monkeypatch):
    monkeypatch.setattr(replicated, "installed", lambda server: "/usr/sbin/mysqld")
    variant = EXPERIMENT.variant("mysql_tuned-1server-1replica-counter")

    with Processes(tmp_path) as processes, pytest.raises(RunFailed, match="replicas need MariaDB"):
        BrowseService(variant, processes, tmp_path)

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
    """What tests ask of a replica."""

    pause: str
    is_paused: str
    go_on: str
    waits: str
    """Returns what changes whenever a read waits for a position that isn't reached."""
    far: str
    """A position that no replica reaches."""
    none: str
    """What resembles a position."""


ENGINES = {
    "mysql_tuned": Engine(
        pause="STOP SLAVE SQL_THREAD",
        is_paused="SELECT 1",
        go_on="START SLAVE SQL_THREAD",
        waits="""
            SELECT variable_value FROM information_schema.global_status
             WHERE variable_name = 'MASTER_GTID_WAIT_COUNT'
        """,
        far="0-1-999999999",
        none="0-1-" + "9" * 30,
    ),
    "postgres_tuned": Engine(
        pause="SELECT pg_wal_replay_pause()",
        is_paused="SELECT pg_get_wal_replay_pause_state() = 'paused'",
        go_on="SELECT pg_wal_replay_resume()",
        waits="""
            SELECT max(query_start) FROM pg_stat_activity
             WHERE query LIKE '%pg_last_wal_replay_lsn()%' AND pid <> pg_backend_pid()
        """,
        far="FFFFFFFF/FFFFFFFF",
        none="0/" + "9" * 30,
    ),
}


@pytest.fixture(scope="module", params=ENGINES)
def database(request):
    return request.param


@pytest.fixture(scope="module")
def engine(database):
    return ENGINES[database]


@pytest.fixture(scope="module")
def service(database, tmp_path_factory):
    folder = tmp_path_factory.mktemp("service")
    with Processes(folder / "logs") as processes:
        variant = EXPERIMENT.variant(f"{database}-1server-1replica-counter")
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


@pytest.fixture
def standing_still(service, engine):
    """Return what pauses replication within its block."""

    @contextmanager
    def pausing():
        (replica,) = service.replicas.servers
        with closing(replica.connect()) as connection:
            cursor = connection.cursor()
            cursor.execute(engine.pause)
            while not ask(cursor, engine.is_paused):
                time.sleep(0.01)
            yield
            cursor.execute(engine.go_on)
        service.replicas.catch_up()

    return pausing


def ask(cursor, query):
    cursor.execute(query)
    return cursor.fetchone()[0]


def test_writers_read_their_own_writes_and_others_the_replica(standing_still, client):
    with standing_still():
        assert client.ask("PUT", "/v1/posts/1/like/") == (204, None)

        assert client.likes(1) == 1
        client.headers.pop("Cookie")
        assert client.likes(1) == 0

    assert client.likes(1) == 1


def test_writers_read_from_a_replica_that_has_their_write(service, standing_still, clients):
    client, other = clients
    client.ask("PUT", "/v1/posts/2/like/")
    service.replicas.catch_up()
    with standing_still():
        other.ask("PUT", "/v1/posts/2/like/")  # only the primary has this

        assert client.likes(2) == 1
        assert other.likes(2) == 2


def signed(position, key):
    return TimestampSigner(key=b"django.http.cookies" + key.encode(), salt="written").sign(position)


@pytest.fixture
def waits(service, engine):
    """Return a function whose answer changes when a read waits in vain for the replica."""
    (replica,) = service.replicas.servers
    with closing(replica.connect()) as connection:
        yield lambda: ask(connection.cursor(), engine.waits)


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
def test_a_cookie_that_is_not_ours_waits_for_nothing_and_reads_the_primary(
    engine, standing_still, cookie, client, waits
):
    with standing_still():
        client.ask("PUT", "/v1/posts/3/like/")
        client.headers["Cookie"] = f"written={cookie(engine.far)}"
        before = waits()

        assert client.likes(3) == 1

        assert waits() == before
        client.ask("DELETE", "/v1/posts/3/like/")


@pytest.mark.parametrize("kind", ["far", "unknown", "none", "'; DROP TABLE x"])
def test_a_position_that_no_replica_reaches_is_read_from_the_primary(
    service, engine, standing_still, client, waits, kind
):
    with standing_still():
        client.ask("PUT", "/v1/posts/3/like/")
        position = getattr(engine, kind, kind)
        client.headers["Cookie"] = f"written={signed(position, service.secret_key)}"
        before = waits()

        assert client.likes(3) == 1

        assert (waits() != before) == (kind == "far")
        client.ask("DELETE", "/v1/posts/3/like/")


def test_probes_and_whoever_has_no_token_wait_for_nothing(service, engine, client, waits):
    before = waits()

    client.headers = {"Cookie": f"written={signed(engine.far, service.secret_key)}"}
    for path in ("/healthz", "/readyz", "/statusz", "/metrics", "/v1/feed/"):
        client.ask("GET", path)

    assert waits() == before


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

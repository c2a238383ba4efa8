"""Reading from a replica, on real servers: a paused replica shows which server is read."""

import json
import time
from contextlib import closing, contextmanager
from http.client import HTTPConnection

import pytest
from django.core.signing import TimestampSigner

from launch.processes import Processes, RunFailed
from launch.service import Seed
from replays import replicated
from replays.browse.experiment import EXPERIMENT
from replays.browse.service import BrowseService


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("service")
    with Processes(folder / "logs") as processes:
        variant = EXPERIMENT.variant("mysql_tuned-1server-1replica-counter")
        service = BrowseService(variant, processes, folder)
        service.prepare(Seed(people=3, friends=2), [("seed_likes", "--posts=3", "--likes=0")])
        service.start()
        processes.stop("replication")  # it waits for positions too
        yield service


@pytest.fixture
def client(service):
    tokens = dict(line.split(",") for line in service.tokens.read_text().split())
    with closing(HTTPConnection("127.0.0.1", service.port, timeout=10)) as connection:
        yield Client(connection, tokens["1"])


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
    (replica,) = service.replicas.servers
    with replica.connect() as connection:
        connection.cursor().execute("STOP SLAVE SQL_THREAD")
        yield
        connection.cursor().execute("START SLAVE SQL_THREAD")
    service.replicas.catch_up()


def test_writers_read_their_own_writes_and_others_the_replica(service, client):
    with standing_still(service):
        assert client.ask("PUT", "/v1/posts/1/like/") == (204, None)

        assert client.likes(1) == 1
        client.headers.pop("Cookie")
        assert client.likes(1) == 0

    assert client.likes(1) == 1


def test_writers_read_from_a_replica_that_has_their_write(service, client):
    client.ask("PUT", "/v1/posts/2/like/")
    service.replicas.catch_up()
    with standing_still(service):
        with service.replicas.primary.connect() as connection:  # only the primary has this
            connection.cursor().execute("UPDATE feed.feed_post SET like_count = 7 WHERE id = 2")
            connection.commit()

        assert client.likes(2) == 1


FAR = "0-1-999999999"
"""A position that no replica reaches."""


def signed(position, key):
    return TimestampSigner(key=b"django.http.cookies" + key.encode(), salt="written").sign(position)


def waits(service):
    """Return how often a read has waited for the replica."""
    (replica,) = service.replicas.servers
    with replica.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SHOW GLOBAL STATUS LIKE 'Master_gtid_wait_count'")
        return int(cursor.fetchone()[1])


@pytest.mark.parametrize(
    "cookie",
    ["", "unknown", FAR, signed(FAR, "another key"), signed(FAR, "")[:-1], "'; DROP x"],
    ids=["none", "unknown", "unsigned", "another key", "cut", "SQL"],
)
def test_a_cookie_that_is_not_ours_waits_for_nothing_and_reads_the_primary(service, cookie, client):
    with standing_still(service):
        client.ask("PUT", "/v1/posts/3/like/")
        client.headers["Cookie"] = f"written={cookie}"
        before = waits(service)

        assert client.likes(3) == 1

        assert waits(service) == before
        client.ask("DELETE", "/v1/posts/3/like/")


@pytest.mark.parametrize("position", [FAR, "unknown", "0-1-" + "9" * 30, "'; DROP TABLE x"])
def test_a_position_that_no_replica_reaches_is_read_from_the_primary(service, client, position):
    with standing_still(service):
        client.ask("PUT", "/v1/posts/3/like/")
        client.headers["Cookie"] = f"written={signed(position, service.secret_key)}"

        assert client.likes(3) == 1
        client.ask("DELETE", "/v1/posts/3/like/")


def test_probes_and_whoever_has_no_token_wait_for_nothing(service, client):
    before = waits(service)

    client.headers = {"Cookie": f"written={signed(FAR, service.secret_key)}"}
    for path in ("/healthz", "/readyz", "/statusz", "/metrics", "/v1/feed/"):
        client.ask("GET", path)

    assert waits(service) == before


def test_an_unreachable_replica_is_left_out(service, client):
    """Runs last: it stops the replica."""
    (replica,) = service.replicas.servers
    assert client.ask("GET", "/v1/posts/1/")[0] == 200  # so that the app server is connected
    with closing(replica.connect()) as connection:
        connection.cursor().execute("SHUTDOWN")
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

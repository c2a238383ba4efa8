import json
import os
import select
import shutil
import time
from contextlib import ExitStack, closing, suppress
from http.client import HTTPConnection
from socket import create_connection

import pytest

from launch.processes import Processes, free_port
from tests.compose.app_server import AppServer
from tests.compose.project import FOLDER

SBIN = "/usr/sbin:/usr/local/sbin:/sbin"
SCRATCH = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
"""Paths that nginx would otherwise put into folders of root."""
OPTIONS = " max_fails=10 fail_timeout=2s"


@pytest.fixture
def app_servers():
    with AppServer() as one, AppServer() as another:
        yield [one, another]


@pytest.fixture
def ports(app_servers, tmp_path):
    """nginx, with the settings of compose, before two app servers: its ports without and with
    limits."""
    ports = free_port(), free_port()
    (tmp_path / "nginx.conf").write_text(_settings(*ports, app_servers))
    with Processes(tmp_path / "logs") as processes:
        processes.start("nginx", _command(tmp_path), {})
        processes.wait_until("nginx", lambda: _listens(ports[0]))
        yield ports


@pytest.fixture
def client(ports):
    """A connection to the port of load generators."""
    with closing(HTTPConnection("127.0.0.1", ports[0], timeout=10)) as connection:
        yield connection


@pytest.fixture
def outsider(ports):
    """A connection to the port of everybody else."""
    with closing(HTTPConnection("127.0.0.1", ports[1], timeout=10)) as connection:
        yield connection


def _settings(port, limited_port, app_servers):
    names = "".join(f"server 127.0.0.1:{it.server_port}{OPTIONS}; " for it in app_servers)
    scratch = "".join(f" {name}_temp_path {name};" for name in SCRATCH)
    text = (FOLDER / "nginx.conf").read_text()
    for ours, here in (
        (f"server app:8000 resolve{OPTIONS};", names),
        ("8000 $binary_remote_addr;", f"{limited_port} $binary_remote_addr;"),
        ("listen 8000;", f"listen 127.0.0.1:{limited_port};"),
        ("listen 8001;", f"listen 127.0.0.1:{port};"),
        ("http {", "http {" + scratch),
    ):
        assert text.count(ours) == 1
        text = text.replace(ours, here)
    return text


def _command(folder):
    binary = shutil.which("nginx", path=f"{os.environ['PATH']}:{SBIN}")
    assert binary, "nginx is not installed: make servers"
    where = ("-p", f"{folder}/", "-c", "nginx.conf", "-e", "stderr")
    return [binary, *where, "-g", "daemon off; pid nginx.pid;"]


def _listens(port):
    try:
        create_connection(("127.0.0.1", port)).close()
    except ConnectionRefusedError:
        return False
    return True


def ask(client, method="GET", times=1, path="/", **headers):
    """Send requests and return the statuses of the answers."""
    statuses = []
    for _ in range(times):
        client.request(method, path, headers=headers)
        with client.getresponse() as answer:
            answer.read()
        statuses.append(answer.status)
    return statuses


def asked(app_servers):
    return [len(server.requests) for server in app_servers]


def test_requests_are_spread_over_the_app_servers(client, app_servers):
    assert ask(client, times=20) == [200] * 20

    assert asked(app_servers) == [10, 10]


def test_connections_are_kept_on_both_sides(client, app_servers):
    ask(client)
    first = client.sock

    ask(client, times=20)
    ask(client, "POST", times=20)

    assert client.sock is first
    assert [len(server.connections) for server in app_servers] == [1, 1]


def test_app_servers_get_the_requested_host(client, app_servers):
    ask(client, Host="feed.example:8089")

    assert [("GET", "feed.example:8089")] in [server.requests for server in app_servers]


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_dead_app_server_gets_no_requests(method, client, app_servers):
    ask(client, times=10)  # so that nginx has a connection to it
    app_servers[0].die()

    statuses = ask(client, method, times=40)

    # Only a request in flight at its death may fail, and a GET is retried.
    assert statuses.count(200) >= (40 if method == "GET" else 39)
    assert set(statuses) <= {200, 502}


@pytest.mark.alone
def test_restarted_app_servers_soon_get_requests_again(client, app_servers):
    for server in app_servers:
        server.die()
    assert ask(client, times=4) == [502] * 4

    with AppServer(app_servers[0].server_port):
        back = time.monotonic()
        while ask(client) != [200]:
            assert time.monotonic() < back + 5


def test_an_unanswered_get_is_sent_to_another_app_server(client, app_servers):
    ask(client, times=2)
    app_servers[0].hangs_up = True

    assert ask(client, times=2) == [200, 200]

    assert app_servers[0].requests[1:] == [("GET", f"127.0.0.1:{client.port}")]


def test_a_post_that_may_have_been_written_is_never_sent_twice(client, app_servers):
    ask(client, times=2)
    for server in app_servers:
        server.hangs_up = True

    assert ask(client, "POST") == [502]

    assert sum(asked(app_servers)) == 3


def test_a_post_with_an_idempotency_key_is_sent_to_another_app_server(client, app_servers):
    ask(client, times=2)
    app_servers[0].hangs_up = True

    assert ask(client, "POST", times=2, path="/v1/posts/", **{"Idempotency-Key": "a"}) == [200] * 2

    assert app_servers[0].requests[1:] == [("POST", f"127.0.0.1:{client.port}")]


@pytest.mark.parametrize("path", ["/v1/token/", "/v1/posts/7/like/", "/v1/posts"])
def test_a_key_is_believed_only_where_the_service_reads_it(path, client, app_servers):
    for server in app_servers:
        server.hangs_up = True

    assert ask(client, "POST", path=path, **{"Idempotency-Key": "a"}) == [502]

    assert sum(asked(app_servers)) == 1


def test_few_failures_do_not_make_nginx_avoid_an_app_server(client, app_servers):
    for server in app_servers:
        server.hangs_up = True
    assert ask(client, "POST", times=6) == [502] * 6

    for server in app_servers:
        server.hangs_up = False
    assert ask(client, times=2) == [200, 200]


def test_app_servers_get_the_address_of_the_client(client, app_servers):
    ask(client, **{"X-Forwarded-For": "192.0.2.7", "X-Forwarded-Proto": "gopher"})

    (headers,) = [headers for server in app_servers for headers in server.headers]
    assert headers["X-Forwarded-For"] == "192.0.2.7, 127.0.0.1"
    assert headers["X-Forwarded-Proto"] == "http"


def test_requests_above_the_rate_of_an_address_get_a_429(outsider, app_servers):
    statuses = ask(outsider, times=400)

    assert set(statuses) == {200, 429}
    assert statuses.index(429) >= 200  # the burst
    assert sum(asked(app_servers)) == statuses.count(200)


def test_a_429_tells_as_json_when_to_come_back(outsider):
    while ask(outsider, times=10)[-1] != 429:
        pass
    outsider.request("POST", "/v1/posts/", headers={"Idempotency-Key": "a"})
    answer = outsider.getresponse()

    assert (answer.status, answer.headers["Retry-After"]) == (429, "1")
    assert answer.headers["Content-Type"] == "application/json"
    assert json.load(answer)["detail"] == "Too many requests from this address. Try again later."


def test_an_address_has_few_requests_at_a_time(ports, app_servers):
    for server in app_servers:
        server.may_answer.clear()
    with ExitStack() as stack:
        clients = [
            stack.enter_context(create_connection(("127.0.0.1", ports[1]), timeout=10))
            for _ in range(101)
        ]
        for client in clients:
            client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        refused, _, _ = select.select(clients, [], [], 10)
        for server in app_servers:
            server.may_answer.set()

        answers = [client.recv(12)[-3:] for client in clients]
        assert len(refused) == answers.count(b"429") == 1
        assert answers.count(b"200") == 100


def test_load_generators_are_not_limited(client):
    assert ask(client, times=400) == [200] * 400


@pytest.mark.parametrize(
    ("size", "status"), [(64 * 1024, 200), (64 * 1024 + 1, 413)], ids=["fits", "too large"]
)
def test_bodies_have_the_limit_of_the_service(size, status, client, settings):
    assert settings.DATA_UPLOAD_MAX_MEMORY_SIZE == 64 * 1024
    client.request("POST", "/v1/posts/", b"x" * size)
    answer = client.getresponse()

    assert answer.status == status
    assert answer.read() == (b"" if status == 200 else b'{"detail":"The request is too large."}')


def test_without_an_app_server_the_answer_says_that_the_outcome_is_unknown(client, app_servers):
    for server in app_servers:
        server.die()
    client.request("POST", "/v1/posts/", headers={"Idempotency-Key": "a"})
    answer = client.getresponse()

    assert (answer.status, answer.headers["Retry-After"]) == (502, "1")
    assert "may have been done" in json.load(answer)["detail"]
    assert "nginx/" not in str(answer.headers)


@pytest.mark.alone
def test_clients_that_send_too_slowly_are_disconnected(ports):
    halves = [b"GET / HT", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx"]
    with ExitStack() as stack:
        slow = [
            stack.enter_context(create_connection(("127.0.0.1", ports[0]), timeout=20))
            for _ in halves
        ]
        for client, half in zip(slow, halves, strict=True):
            client.sendall(half)
        started = time.monotonic()
        for client in slow:
            with suppress(ConnectionResetError):
                assert client.recv(1) == b""

        assert 9 < time.monotonic() - started < 15


@pytest.mark.parametrize(
    "path",
    ["/metrics", "/metrics?x=1", "//metrics", "/v1/../metrics", "/%6detrics", "/metrics#x"],
)
def test_operational_figures_are_not_public(path, client, app_servers):
    assert ask(client, path=path) == [404]

    assert asked(app_servers) == [0, 0]

import os
import shutil
import time
from contextlib import closing
from http.client import HTTPConnection
from socket import create_connection

import pytest

from launch.processes import Processes, free_port
from tests.compose.app_server import AppServer
from tests.compose.project import FOLDER

SBIN = "/usr/sbin:/usr/local/sbin:/sbin"
SCRATCH = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
"""Paths that nginx would otherwise put into folders of root."""
OPTIONS = " fail_timeout=2s"


@pytest.fixture
def app_servers():
    with AppServer() as one, AppServer() as another:
        yield [one, another]


@pytest.fixture
def client(app_servers, tmp_path):
    """A connection to nginx, with the settings of compose, before two app servers."""
    port = free_port()
    (tmp_path / "nginx.conf").write_text(_settings(port, app_servers))
    with (
        Processes(tmp_path / "logs") as processes,
        closing(HTTPConnection("127.0.0.1", port, timeout=10)) as connection,
    ):
        processes.start("nginx", _command(tmp_path), {})
        processes.wait_until("nginx", lambda: _listens(port))
        yield connection


def _settings(port, app_servers):
    names = "".join(f"server 127.0.0.1:{it.server_port}{OPTIONS}; " for it in app_servers)
    scratch = "".join(f" {name}_temp_path {name};" for name in SCRATCH)
    text = (FOLDER / "nginx.conf").read_text()
    for ours, here in (
        (f"server app:8000 resolve{OPTIONS};", names),
        ("listen 8000;", f"listen 127.0.0.1:{port};"),
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


@pytest.mark.parametrize(
    "path",
    ["/metrics", "/metrics?x=1", "//metrics", "/v1/../metrics", "/%6detrics", "/metrics#x"],
)
def test_operational_figures_are_not_public(path, client, app_servers):
    assert ask(client, path=path) == [404]

    assert asked(app_servers) == [0, 0]

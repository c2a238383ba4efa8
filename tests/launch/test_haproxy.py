"""HAProxy, with the settings of compose, before gunicorns with an application of four threads."""

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection, IncompleteRead
from pathlib import Path
from select import select
from signal import SIGKILL
from socket import create_connection
from types import SimpleNamespace

import pytest

from lab.faults.running import wait_for
from launch.processes import Processes, free_port
from launch.servers.proxies import HAPROXY_SETTINGS, HAProxy
from launch.service import is_ready
from tests.half_requests import KINDS, halves, slow_readers

APPS = ("one", "another")
GUNICORN = (sys.executable, "-m", "gunicorn", "--config=config/gunicorn.py")
APPLICATION = "tests.launch.test_haproxy:application"
UNKNOWN = {"detail": "No app server answered. What was asked may have been done."}
NOT_STORED = {"detail": "Too many requests wait. Try again.", "code": "not_stored"}


def application(environ, start_response):
    """Note the request, and do what its query says; answer the name of the pool."""
    folder, name = Path(os.environ["NOTES"]), os.environ["POOL"]
    client = environ.get("HTTP_X_FORWARDED_FOR", "checked")
    with (folder / "notes").open("a") as notes:
        notes.write(f"{name} {environ['REQUEST_METHOD']} {environ['PATH_INFO']} {client}\n")
    if environ["QUERY_STRING"] == "die" and not (folder / "died").exists():
        (folder / "died").touch()
        os.kill(os.getpid(), SIGKILL)
    while environ["QUERY_STRING"] == "wait" and not (folder / "open").exists():
        time.sleep(0.02)
    if environ["QUERY_STRING"] == "proto":
        name = environ["HTTP_X_FORWARDED_PROTO"]
    if environ["QUERY_STRING"].isdecimal():
        name = "x" * int(environ["QUERY_STRING"])
    start_response("200 OK", [("Content-Length", str(len(name)))])
    return [name.encode()]


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    """Two app servers, and the pools for probes and slow requests."""
    folder = tmp_path_factory.mktemp("servers")
    ports = {name: free_port() for name in (*APPS, "probes", "slow")}
    with Processes(folder / "logs") as processes:
        servers = SimpleNamespace(processes=processes, folder=folder, ports=ports)
        for name in ports:
            start(servers, name)
        yield servers


def start(servers, name):
    env = {"WEB_WORKERS": "1", "WEB_THREADS": "4", "NOTES": str(servers.folder), "POOL": name}
    env |= {"SECRET_KEY": "k" * 50, "DATABASE_URL": f"sqlite:///{servers.folder}/db.sqlite3"}
    argv = [*GUNICORN, f"--bind=127.0.0.1:{servers.ports[name]}", "--reuse-port", APPLICATION]
    servers.processes.start(name, argv, env)
    servers.processes.wait_until(name, lambda: is_ready(servers.ports[name]), within_s=60)


@pytest.fixture
def proxied(servers, tmp_path):
    """Return what starts HAProxy with some options; nothing has been asked for yet."""
    for name in ("died", "open"):
        (servers.folder / name).unlink(missing_ok=True)
    (servers.folder / "notes").write_text("")
    at = {name: f"127.0.0.1:{port}" for name, port in servers.ports.items()}
    usual = {"apps": [at[name] for name in APPS], "probes": at["probes"], "slow": at["slow"]}
    with Processes(tmp_path / "logs") as processes:

        def start(*changes, **options):
            settings = HAPROXY_SETTINGS.read_text()
            for ours, other in changes:
                assert ours in settings
                settings = settings.replace(ours, other)
            (file := tmp_path / "haproxy.cfg").write_text(settings)
            options = {**usual, **options, "port": free_port(), "settings": file}
            proxy = HAProxy(processes, tmp_path, **options)
            proxy.start()
            return proxy

        yield start
        (servers.folder / "open").touch()  # so that nothing waits for the next test


def connected(port):
    return closing(HTTPConnection("127.0.0.1", port, timeout=30))


def ask(client, method="GET", path="/", body=None, **headers):
    """Ask over a connection, or a new one to a port; return status, Retry-After and body."""
    with ExitStack() as stack:
        if isinstance(client, int):
            client = stack.enter_context(connected(client))
        client.request(method, path, body, headers)
        answer = client.getresponse()
        told = answer.read().decode()
        told = json.loads(told) if told.startswith("{") else told
        return answer.status, answer.headers["Retry-After"], told


def noted(servers, method="", path="/"):
    """Return the notes of all requests but the checks of HAProxy."""
    lines = (servers.folder / "notes").read_text().splitlines()
    notes = [line.split(maxsplit=3) for line in lines]
    return [it for it in notes if "checked" not in it[3] and method in it[1] and it[2] == path]


@contextmanager
def waiting(servers, port, method="GET", path="/"):
    """Have two requests with the servers while the block runs."""
    with ThreadPoolExecutor(2) as pool:
        for _ in range(2):
            pool.submit(ask, port, method, f"{path}?wait")
        try:
            servers.processes.wait_until("one", lambda: len(noted(servers, method, path)) == 2)
            yield
        finally:
            (servers.folder / "open").touch()


@pytest.mark.parametrize("kind", ["byte", "head", "body", "expect", "chunked"])
def test_half_requests_never_reach_python_and_block_nobody(kind, proxied, servers):
    port = proxied(app_requests=4).port
    with halves(port, KINDS[kind], 40):
        assert {ask(port, "POST", "/", "x" * 60_000)[0] for _ in range(5)} == {200}
    assert len(noted(servers)) == 5
    assert not noted(servers, path="/v1/posts/")


@pytest.mark.parametrize("kind", ["head", "body"])
def test_clients_that_send_too_slowly_are_disconnected(kind, proxied):
    with create_connection(("127.0.0.1", proxied().port), timeout=30) as client:
        client.sendall(KINDS[kind])
        started = time.monotonic()
        while client.recv(1000):
            pass
    # HAProxy 3.0 waits for as long again after it has answered 408.
    assert time.monotonic() - started > 9


def test_clients_that_read_nothing_block_nobody(proxied, servers):
    """They keep their connections for longer than the post is waited for."""
    kept = ("timeout client 10s", "timeout client 60s")
    all_served = ("timeout queue 300ms", "timeout queue 60s")  # also by a busy machine
    port = proxied(kept, all_served, app_requests=4).port
    with slow_readers(port, b"GET /?1600000 HTTP/1.1\r\nHost: localhost\r\n\r\n", 40):
        wait_for(lambda: len(noted(servers, "GET")) == 40)
        wait_for(lambda: ask(port, "POST")[0] == 200)


def test_clients_that_read_nothing_are_disconnected(proxied):
    proxy = proxied(("timeout client 10s", "timeout client 1s"))
    aborted = 'haproxy_backend_client_aborts_total{proxy="app"} 1'
    with connected(proxy.port) as client:
        client.request("GET", "/?50000000")  # more than the kernel's buffers take
        wait_for(lambda: aborted in ask(proxy.metrics_port, path="/metrics")[2])
        with pytest.raises((IncompleteRead, ConnectionResetError)):
            client.getresponse().read()


def test_a_post_that_waited_too_long_for_its_turn_is_not_stored(proxied, servers):
    port = proxied(app_requests=1).port
    with waiting(servers, port):
        assert ask(port, "POST") == (503, "1", NOT_STORED)
    assert not noted(servers, "POST")


def test_a_post_that_found_no_app_server_is_not_stored(proxied):
    proxy = proxied(apps=[f"127.0.0.1:{free_port()}"])
    assert ask(proxy.port, "POST") == (503, "1", NOT_STORED)
    _, _, told = ask(proxy.metrics_port, path="/metrics")
    assert 'haproxy_backend_http_responses_total{proxy="app",code="5xx"} 1' in told


def test_a_post_whose_app_server_dies_is_sent_once_and_its_outcome_unknown(proxied, servers):
    assert ask(proxied().port, "POST", "/?die") == (502, "1", UNKNOWN)
    assert len(noted(servers, "POST")) == 1


def test_other_settings_would_send_a_post_twice(proxied, servers):
    retried = ("retry-on conn-failure empty-response", "retry-on all-retryable-errors")
    allowed = ("disable-l7-retry unless", "disable-l7-retry unless TRUE ||")
    assert ask(proxied(retried, allowed).port, "POST", "/?die")[0] == 200
    assert len(noted(servers, "POST")) == 2


def test_a_read_whose_app_server_dies_is_sent_to_another(proxied, servers):
    assert ask(proxied().port, path="/v1/feed/?die")[0] == 200
    assert {note[0] for note in noted(servers, path="/v1/feed/")} == {*APPS}


def test_the_outcome_of_a_post_that_takes_too_long_is_unknown(proxied, servers):
    port = proxied(("timeout server 35s", "timeout server 1s")).port
    assert ask(port, "POST", "/?wait") == (504, "1", UNKNOWN)
    wait_for(lambda: len(noted(servers, "POST")) == 1)  # a busy machine is late


def test_probes_and_slow_requests_are_answered_while_app_servers_are_full(proxied, servers):
    port = proxied(app_requests=1).port
    with waiting(servers, port):
        assert ask(port, path="/healthz") == (200, None, "probes")
        assert ask(port, "POST", "/v1/token/") == (200, None, "slow")


def test_log_ins_do_not_delay_the_rest(proxied, servers):
    port = proxied().port
    with waiting(servers, port, "POST", "/v1/token/"):
        assert ask(port)[2] in APPS
        assert ask(port, "POST", "/v1/token/")[0] == 503


def test_one_port_limits_the_rate_of_an_address(proxied):
    proxy = proxied()
    with connected(proxy.limited_port) as limited, connected(proxy.port) as unlimited:
        answers = [ask(limited, path="/metrics") for _ in range(400)]
        assert {ask(unlimited, path="/metrics")[0] for _ in range(400)} == {404}
    assert {status for status, *_ in answers[:200]} == {404}
    _, retry_after, told = next(it for it in answers if it[0] == 429)
    assert (retry_after, "this address" in told["detail"]) == ("1", True)


def test_an_address_has_few_requests_at_a_time(proxied):
    port = proxied().limited_port
    with ExitStack() as stack:
        clients = [create_connection(("127.0.0.1", port), timeout=30) for _ in range(101)]
        for client in map(stack.enter_context, clients):
            client.sendall(KINDS["body"])
        answered, _, _ = select(clients, [], [], 30)
        assert [client.recv(12) for client in answered] == [b"HTTP/1.1 429"]


@pytest.mark.parametrize("chunked", [False, True])
def test_bodies_have_the_limit_of_the_service(chunked, proxied, servers, settings):
    port, limit = proxied().port, settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    bodies = [b"x" * limit, b"x" * (limit + 1)]
    assert [ask(port, "POST", "/", iter([it]) if chunked else it)[0] for it in bodies] == [200, 413]
    assert len(noted(servers)) == 1


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_the_address_of_the_client_is_appended(method, proxied, servers):
    ask(proxied().port, method, **{"X-Forwarded-For": "192.0.2.7"})
    assert [it[3] for it in noted(servers)] == ["192.0.2.7, 127.0.0.1"]


@pytest.mark.parametrize("path", ["/metrics?x=1", "//metrics", "/%6detrics"])
def test_operational_figures_are_not_public(path, proxied, servers):
    assert ask(proxied().port, path=path)[0] == 404
    assert not noted(servers, path="/metrics")


@pytest.mark.parametrize(("claimed", "believed"), [("https", "https"), ("gopher", "http")])
def test_only_https_is_believed_of_a_proxy_in_front(claimed, believed, proxied):
    port = proxied().port
    assert ask(port, path="/?proto", **{"X-Forwarded-Proto": claimed})[2] == believed

"""The proxy of the slow faults, between clients and a real Redis that counts what reaches it."""

import socket
import time
from contextlib import contextmanager
from itertools import count

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from lab.faults.slow import SlowProxy
from lab.faults.slow_proxy import ANSWERS_LOST, KINDS
from launch.processes import Processes
from launch.servers import Redis

LARGE = bytes(3_000_000)
ONCE = {"single_connection_client": True, "retry": Retry(NoBackoff(), 0)}


@pytest.fixture(scope="module")
def proxy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slow")
    with Processes(folder / "logs") as processes:
        server = Redis(processes, folder / "redis", "local")
        server.start()
        proxy = SlowProxy.before(server)
        proxy.start()
        yield proxy


@pytest.fixture
def server(proxy):
    with redis.Redis.from_url(proxy.urls["REDIS_URL"]) as server:
        server.flushall()
        yield server


@contextmanager
def connected(proxy, timeout_s=60):
    """A client with one connection through the proxy, which sends nothing twice."""
    url = proxy.environment["REDIS_URL"]
    with redis.Redis.from_url(url, socket_timeout=timeout_s, **ONCE) as client:
        client.ping()
        yield client


def count_until_lost(client):
    """Count in Redis until the connection is lost; return how many answers came."""
    for answers in count():
        try:
            client.incr("count")
        except redis.ConnectionError:
            return answers


def assert_no_answer(client):
    with pytest.raises(redis.TimeoutError):
        client.incr("count")


def seconds_of(call):
    began = time.monotonic()
    call()
    return time.monotonic() - began


def test_all_passes_until_it_is_told_to_be_slow(proxy, server):
    with connected(proxy) as client:
        client.set("large", LARGE)

        assert client.get("large") == server.get("large") == LARGE


def test_answers_are_late(proxy, server):
    with connected(proxy) as client, proxy.slow("500 ms"):
        assert seconds_of(client.ping) >= KINDS["500 ms"].late_s


def test_a_connection_carries_so_many_bytes_per_second(proxy, server):
    server.set("page", bytes(20_000))

    with connected(proxy) as client, proxy.slow("10 kB/s"):
        assert seconds_of(lambda: client.get("page")) >= 2


def test_some_requests_are_lost_before_the_server_acts(proxy, server):
    with connected(proxy) as client, proxy.slow("1 % resets"):
        answers = count_until_lost(client)

    assert int(server.get("count") or 0) == answers


def test_some_answers_are_lost_after_the_server_acted(proxy, server):
    with connected(proxy) as client, proxy.slow(ANSWERS_LOST):
        answers = count_until_lost(client)

    assert int(server.get("count")) == answers + 1


def test_half_open_connections_lose_all_data_and_new_ones_none(proxy, server):
    with connected(proxy, timeout_s=1) as old, proxy.slow("half-open"):
        assert_no_answer(old)
        with connected(proxy) as new:
            assert new.incr("count") == 1


def test_clients_of_half_open_connections_are_reset_at_the_end_and_the_server_is_not(proxy, server):
    with socket.create_connection((proxy.address, proxy.port)) as client:
        client.sendall(b"CLIENT ID\r\n")
        number = client.recv(100).strip(b":\r\n").decode()
        with connected(proxy, timeout_s=1) as other, proxy.slow("half-open"):
            assert_no_answer(other)

        with pytest.raises(ConnectionResetError):
            client.recv(1)
    assert server.client_list(client_id=[number])


def test_it_counts_what_it_has_delayed_or_lost(proxy):
    with connected(proxy) as client, proxy.slow("50 ms") as met:
        assert met() == 0
        client.ping()
        assert met() > 0

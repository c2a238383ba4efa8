import contextlib
import signal
import socket
import subprocess
import time

import pytest
from redis import Redis
from redis.exceptions import RedisError

REDIS_STORES = ["roundtrip", "pipeline", "script", "ring"]


@contextlib.contextmanager
def redis_server(folder):
    """A private server that keeps nothing: yields its process and its URL."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ["--bind", "127.0.0.1", "--port", str(port), "--dir", str(folder)]
    nothing_kept = ["--save", "", "--appendonly", "no"]
    with (folder / "redis.log").open("wb") as log:
        process = subprocess.Popen(["redis-server", *options, *nothing_kept], stdout=log)
    try:
        _wait_until_it_answers(process, port)
        yield process, f"redis://127.0.0.1:{port}/0"
    finally:
        process.send_signal(signal.SIGCONT)
        process.terminate()
        process.wait(timeout=10)


def _wait_until_it_answers(process, port):
    deadline = time.monotonic() + 10
    while True:
        with Redis(port=port, socket_timeout=1) as client, contextlib.suppress(RedisError):
            client.ping()
            return
        assert process.poll() is None, "redis-server ended"
        assert time.monotonic() < deadline, "redis-server does not answer"
        time.sleep(0.02)


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory):
    with redis_server(tmp_path_factory.mktemp("redis")) as (_, url):
        yield url


@pytest.fixture
def keep_timelines_at(settings):
    """Point the Redis stores at a server."""

    def point(url, **options):
        stores = {
            alias: {**settings.FEED_TIMELINES[alias], "OPTIONS": {"url": url, **options}}
            for alias in REDIS_STORES
        }
        settings.FEED_TIMELINES = settings.FEED_TIMELINES | stores

    return point


@pytest.fixture
def redis(redis_url, keep_timelines_at):
    """The client of an empty private server, which is where the Redis stores keep timelines."""
    keep_timelines_at(redis_url)
    with Redis.from_url(redis_url) as client:
        client.flushdb()
        yield client

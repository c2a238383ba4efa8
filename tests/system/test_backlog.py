"""A drainer that is stopped: posts are refused early, and accepted again when it has caught up."""

import json
import time
from contextlib import closing
from http.client import HTTPConnection

import pytest

from lab.faults.running import serving, wait_for

pytestmark = pytest.mark.faults

MAX_AGE_S = 1


@pytest.fixture
def running(tmp_path, monkeypatch):
    monkeypatch.setenv("FEED_BACKLOG_MAX_AGE_S", str(MAX_AGE_S))
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", f"{tmp_path}/metrics")
    with serving("sqlite-outbox-setbased", tmp_path) as running:
        yield running


def ask(running, path, method="GET", body=None):
    """Ask on a new connection; return status, headers and text."""
    headers = {"Authorization": f"Bearer {running.tokens[0]}", "Content-Type": "application/json"}
    with closing(HTTPConnection("127.0.0.1", running.service.port, timeout=10)) as connection:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()


def test_posts_are_refused_while_no_drainer_delivers(running):
    with running.load(clients=2, pause_s=0.01):
        wait_for(lambda: running.accepted)
        running.processes.stop("workers")
        wait_for(lambda: running.refused)
        time.sleep(1)  # until all processes have asked
    stored = running.query("SELECT count(*) FROM feed_post")
    status, headers, text = ask(running, "/v1/posts/", "POST", '{"body": "text"}')
    ready, _, checks = ask(running, "/readyz")

    assert (status, headers["Retry-After"]) == (503, "10")
    assert json.loads(text)["code"] == "backlog_full"
    assert stored == len(running.accepted) == running.query("SELECT count(*) FROM feed_post")
    assert ask(running, "/v1/feed/")[0] == ready == 200
    assert json.loads(checks)["posts"].startswith("refused: the oldest post waits")
    assert "feed_accepts_posts 0.0" in ask(running, "/metrics")[2]

    running.service.start_workers()
    with running.load(clients=1, pause_s=0.05):
        wait_for(lambda: len(running.accepted) > stored + 5)
    assert running.service.audit(running.drained())["ok"]
    assert "feed_accepts_posts 1.0" in ask(running, "/metrics")[2]

"""What the live page says of its load, from a server that fails to figures in words."""

import json
import threading
import time
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from lab.live import curves, shown
from lab.live.figures import History, Rates
from lab.live.load import LiveLoad
from lab.live.lookout import Reader

PEOPLE = [Reader(number, f"token{number}") for number in range(1, 11)]


class Failing(BaseHTTPRequestHandler):
    """Answers reads; a post gets a status, or its connection is closed."""

    protocol_version = "HTTP/1.1"
    status = 500

    def do_GET(self):
        self.answer(200)

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.status:
            self.answer(self.status)
        else:
            self.close_connection = True

    def answer(self, status):
        body = b'{"posts": [], "backlog": {"posts": 0, "oldest_age_s": null}}'
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Failing) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(("status", "reason"), [(500, "status 500"), (0, "connection lost")])
def test_posts_that_fail_are_told_with_their_commonest_reason(
    server, monkeypatch, tmp_path, status, reason
):
    monkeypatch.setattr(Failing, "status", status)
    load = LiveLoad(server, PEOPLE, 4)
    with closing(load._connections):
        for _ in range(4):
            load.step(Rates(40, 1), time.time())
        figures = load.figures()

    history, file = History(), tmp_path / "figures.json"
    file.write_text(json.dumps(figures))
    history.read(file)

    assert history.latest.totals["failed"] > 0
    assert f"posts; lately: {reason}" in shown.figures(history.latest)


def told(at, **changes):
    counts = dict.fromkeys(("offered", "accepted", "refused", "failed", "reads", "reads_failed"), 0)
    return {
        "at": at,
        **counts,
        "why_failed": "",
        "answer_ms": {"p50": None, "p99": None},
        "status": None,
        "watched": [],
        "settled": [],
        "audit": {"found": 0, "missing": 0, "pending": 0},
        **changes,
    }


@pytest.fixture
def history_of(tmp_path):
    def read(*samples):
        history, file = History(), tmp_path / "figures.json"
        for sample in samples:
            file.write_text(json.dumps(sample))
            history.read(file)
        return history

    return read


def test_a_reason_stays_until_there_is_another(history_of):
    history = history_of(told(1, failed=1, why_failed="client time-out"), told(2, failed=1))

    assert "lately: client time-out" in shown.figures(history.latest)


def test_what_the_service_does_not_say_is_not_zero(history_of):
    history = history_of(told(1))

    assert "0.0 s" not in shown.figures(history.latest)
    lag, backlog = curves.data(history)[-2:]
    assert lag["data"] == [[0, None]]
    assert backlog["data"] == [[0, None]]


def test_refused_and_failed_are_told_apart(history_of):
    history = history_of(told(1, offered=9, refused=2, failed=3))

    assert {"refused", "failed"} <= {it["name"] for it in curves.data(history)}
    assert "2 refused, 3 failed" in shown.summary(history.latest)


def test_both_sides_have_the_scale_of_the_larger_one(history_of):
    small, large = history_of(told(1, offered=3)), history_of(told(1, offered=140))

    assert curves.tops([small, large]) == [200, 1, 1]
    assert curves.tops([small]) == [5, 1, 1]

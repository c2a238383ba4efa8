"""The generator of open arrivals: each one is counted, whatever comes of it."""

import csv
import json
import subprocess
import sys
import threading
from collections import Counter
from contextlib import contextmanager
from itertools import count, islice
from socketserver import StreamRequestHandler, ThreadingTCPServer

import pytest

from locustfiles.connections import Answer
from locustfiles.open_load import DEEP, FEED, Readers, pages_per_visit, who_comes, wrong_with

RATE, WARM_UP_S, RUN_TIME_S, TIMEOUT_S = 100, 0.2, 0.5, 0.3
PATIENT_S = 20
"""Longer than an answer takes on a machine that other tests keep busy."""
ARRIVALS = round(RATE * (WARM_UP_S + RUN_TIME_S))
POST = json.dumps({"id": 7, "author": 1, "created_at": "2026-01-01T00:00:00Z", "body": "x"})


class Server(ThreadingTCPServer):
    daemon_threads, block_on_close, request_queue_size = True, False, 200


@contextmanager
def answering(answers):
    """Serve what ``answers(turn)`` returns to the requests, in turn; None ends the connection."""
    turns, ended = count(), threading.Event()

    class Handler(StreamRequestHandler):
        def handle(self):
            while line := self.rfile.readline():
                length = 0
                while (header := self.rfile.readline()) != b"\r\n":
                    name, _, value = header.decode().partition(":")
                    length = int(value) if name == "Content-Length" else length
                self.rfile.read(length)
                if line.startswith(b"GET"):
                    self.answer((200, "", "{}"))
                elif not self.answer(answers(next(turns))):
                    return

        def answer(self, answer):
            if answer == "silent":
                ended.wait()
            if answer is None or answer == "silent":
                return False
            status, headers, body = answer
            head = f"HTTP/1.1 {status} Some\r\n{headers}Content-Length: {len(body)}\r\n\r\n"
            self.wfile.write(f"{head}{body}".encode())
            return "close" not in headers

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            ended.set()
            server.shutdown()
            thread.join()


@pytest.fixture
def offered(tmp_path):
    """Return a function that offers RATE to such a server; it returns the rows of the files."""

    def offer(answers, *options, rates=str(RATE)):
        (tmp_path / "tokens.csv").write_text("person_id,token\n1,abc\n")
        names = ("requests", "unanswered", "accepted", "probes", "steps")
        with answering(answers) as port:
            command = [
                *(sys.executable, "-m", "locustfiles.open_load", f"--posts-per-s={rates}"),
                *(f"--host=http://127.0.0.1:{port}", f"--tokens={tmp_path}/tokens.csv"),
                *(f"--warm-up-s={WARM_UP_S}", f"--run-time-s={RUN_TIME_S}"),
                *(f"--timeout-s={PATIENT_S}", *(f"--{it}={tmp_path}/{it}.csv" for it in names)),
            ]
            subprocess.run([*command, *options], check=True, timeout=60)
        return {name: read(tmp_path / f"{name}.csv") for name in names}

    return offer


def read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def outcomes(found):
    return Counter(row["exception"] for row in found["requests"])


def test_every_accepted_post_is_recorded(offered):
    found = offered(lambda turn: (201, "", POST))

    assert outcomes(found) == {"": ARRIVALS}
    accepted = {"id": "7", "author": "1", "created_at": "2026-01-01T00:00:00Z"}
    sent_at = [float(row.pop("sent_at")) for row in found["accepted"]]
    assert found["accepted"] == ARRIVALS * [accepted]
    assert sent_at == [float(row["timestamp"]) for row in found["requests"]]
    assert found["unanswered"] == []


def test_refusals_with_and_without_retry_after_are_told_apart(offered):
    kinds = [
        (201, "", POST),
        (503, "Retry-After: 1\r\n", "{}"),
        (503, "", "{}"),
        (500, "retry-after: 1\r\n", "{}"),
        (201, "Connection: close\r\n", POST),
    ]
    found = offered(lambda turn: kinds[turn % 5])

    assert outcomes(found) == {
        "": 2 * ARRIVALS // 5,
        "status 503 with Retry-After": ARRIVALS // 5,
        "status 503 without Retry-After": ARRIVALS // 5,
        "status 500 with Retry-After": ARRIVALS // 5,
    }


def test_a_server_that_is_silent_gives_time_outs(offered):
    found = offered(lambda turn: "silent", f"--timeout-s={TIMEOUT_S}")

    assert outcomes(found) == {"client time-out": ARRIVALS}
    assert all(300 <= float(row["response_time_ms"]) for row in found["requests"])


def test_arrivals_beyond_the_connections_are_dropped_and_counted(offered):
    found = offered(lambda turn: "silent", f"--timeout-s={TIMEOUT_S}", "--most-unanswered=5")

    told = outcomes(found)
    assert told.total() == ARRIVALS
    assert set(told) == {"client time-out", "dropped: too many unanswered"}
    assert told["client time-out"] <= 5 * (1 + (WARM_UP_S + RUN_TIME_S) / TIMEOUT_S)


def test_a_connection_that_the_server_ends_is_lost(offered):
    assert outcomes(offered(lambda turn: None)) == {"connection lost": ARRIVALS}


def test_nobody_listening_is_counted_too(offered, tmp_path):
    found = offered(lambda turn: None, "--host=http://127.0.0.1:1")

    assert outcomes(found) == {"connection lost": ARRIVALS}
    assert {row["status"] for row in found["probes"]} == {"0"}


def test_rates_follow_each_other_and_probes_go_on(offered):
    found = offered(lambda turn: (201, "", POST), rates="20,60")

    first, second = found["steps"]
    assert [float(step["rate"]) for step in (first, second)] == [20, 60]
    assert float(second["start"]) == pytest.approx(float(first["end"]) + WARM_UP_S)
    for step in (first, second):
        at = [float(row["timestamp"]) for row in found["requests"]]
        arrived = sum(float(step["start"]) <= it < float(step["end"]) for it in at)
        assert arrived == float(step["rate"]) * RUN_TIME_S
    assert 2 <= len(found["probes"]) <= 16
    assert {row["status"] for row in found["probes"]} == {"200"}


def page_of(*ids, status=200, following=None):
    page = {"posts": [{"id": it} for it in ids], "next": following}
    return Answer(status, b"http/1.1", json.dumps(page).encode())


@pytest.mark.parametrize(
    ("page", "wrong"),
    [
        (page_of(9, 7, 3), ""),
        (page_of(), "page without posts"),
        (page_of(7, 9), "page out of order"),
        (page_of(9, 9), "page out of order"),
        (page_of(status=503), "status 503 without Retry-After"),
    ],
)
def test_pages_are_checked(page, wrong):
    assert wrong_with(page) == wrong


def test_some_readers_go_on_to_the_fifth_page():
    visits = list(islice(Readers(["a", "b", "c"], "host", deep_share=0.25), 8))

    following = "http://host/v1/feed/?before=7"
    deep = [visit for visit in visits if visit.follow(page_of(9, following=following))]
    assert len(deep) == 2
    pages = [deep[0]]
    while (page := pages[-1].follow(page_of(9, following=following))) is not None:
        pages.append(page)
    assert [it.name for it in pages] == [FEED, DEEP, DEEP, DEEP, DEEP]
    assert pages[1].data.startswith(b"GET /v1/feed/?before=7 HTTP/1.1\r\n")
    assert pages_per_visit(0.25) == 2


def test_a_reader_at_the_end_opens_the_first_page_again():
    (visit,) = islice(Readers(["a"], "host", deep_share=0.99), 1, 2)

    assert visit.follow(page_of(9, following=None)).name == FEED


def test_the_same_people_never_come():
    people = [str(number) for number in range(100)]

    assert len(who_comes(people, 0.3)) == 70
    assert who_comes(people, 0.3) == who_comes(people, 0.3)
    assert sorted(who_comes(people, 0.0)) == sorted(people)

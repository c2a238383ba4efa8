"""Which lane a request is in, and when its turn comes too late."""

import pytest
from django.urls import get_resolver

from web.lanes import (
    EXPENSIVE,
    HASHING,
    PROBE,
    READ,
    SLOW,
    WRITE,
    Queue,
    is_refused,
    known_paths,
    lane_of,
)

BUSY_S = 1.0


@pytest.mark.parametrize(
    ("line", "lane"),
    [
        (b"GET /healthz HTTP/1.1", PROBE),
        (b"GET /readyz?verbose=1 HTTP/1.1", PROBE),
        (b"GET /metrics HTTP/1.1", PROBE),
        (b"GET /v1/feed/ HTTP/1.1", READ),
        (b"HEAD /v1/feed/?after=1 HTTP/1.0", READ),
        (b"OPTIONS /v1/posts/ HTTP/1.1", READ),
        (b"POST /v1/posts/ HTTP/1.1", WRITE),
        (b"DELETE /v1/posts/1/ HTTP/1.1", WRITE),
        (b"NONSENSE", WRITE),
        (b"", WRITE),
        (b"POST /v1/token/ HTTP/1.1", HASHING),
        (b"POST /v1/token/refresh/ HTTP/1.1", WRITE),
        (b"POST /v1/signup/ HTTP/1.1", HASHING),
        (b"GET /v1/me/export/?format=csv HTTP/1.1", EXPENSIVE),
        (b"GET /v1/me/report/ HTTP/1.1", EXPENSIVE),
        (b"GET /v1/me/%65xport/ HTTP/1.1", EXPENSIVE),
        (b"GET /v1/me/export/#fragment HTTP/1.1", EXPENSIVE),
        (b"GET http://localhost/v1/me/export/?a=b HTTP/1.1", EXPENSIVE),
        (b"GET /\tv1/me/export/ HTTP/1.1", EXPENSIVE),
        (b"GET http://[/v1/me/export/ HTTP/1.1", READ),
    ],
)
def test_a_first_line_tells_the_lane(line, lane):
    assert lane_of(line, known_paths()) == lane


def test_every_slow_view_is_found_by_its_path():
    found = {path.decode() for path, lane in known_paths().items() if lane in SLOW}

    assert found
    for path in found:
        assert "<" not in path, "a path with parameters is not recognised before it is parsed"
        assert get_resolver().resolve(path).func.cls.lane in SLOW


def test_a_burst_may_wait_long():
    queue = Queue(BUSY_S)
    for number in range(3):
        queue.put(number, now=10.0)

    assert queue.take(now=10.1) == (0, False)
    assert queue.take(now=10.9) == (1, False)
    assert queue.take(now=11.1) == (2, True)


def test_in_a_standing_queue_requests_may_wait_a_tenth_of_that():
    queue = Queue(BUSY_S)
    queue.put(0, now=10.0)
    for number, now in enumerate((10.5, 11.0, 11.05, 11.05), start=1):
        queue.put(number, now)

    assert queue.take(now=10.5) == (0, False)
    assert queue.take(now=10.9) == (1, False)
    assert queue.take(now=11.101) == (2, True)
    assert queue.take(now=11.102) == (3, False)
    assert queue.take(now=11.102) == (4, False)  # and now it is empty
    queue.put(5, now=11.2)
    assert queue.take(now=11.8) == (5, False)


def test_without_patience_nothing_is_too_late():
    queue = Queue(0)
    queue.put("a request", now=1.0)

    assert queue.take(now=1e9) == ("a request", False)


@pytest.mark.parametrize(
    ("waiting", "too_late", "refused"),
    [
        (0, False, set()),
        (4, False, {WRITE}),
        (6, False, {READ, WRITE}),
        (0, True, {READ, WRITE}),
    ],
)
def test_writes_are_refused_first_and_probes_never(waiting, too_late, refused):
    lanes = (PROBE, READ, WRITE)

    assert {it for it in lanes if is_refused(it, waiting=waiting, too_late=too_late)} == refused

"""What the live page says of its load, from a server that fails to figures in words."""

import time
from collections import deque
from contextlib import closing

import pytest

from lab.live import curves, shown
from lab.live.figures import History, Rates, Sample
from lab.live.load import COUNTS, LiveLoad
from lab.systems.api import Person
from tests.answering import standing_in

PEOPLE = [Person(number, f"token{number}") for number in range(1, 11)]


@pytest.mark.parametrize(("status", "reason"), [(500, "status 500"), (0, "connection lost")])
def test_posts_that_fail_are_told_with_their_commonest_reason(tmp_path, status, reason):
    """Reads are answered; a post gets a status, or its connection is closed."""
    known = {"posts": [], "backlog": {"posts": 0, "oldest_age_s": None}}
    with standing_in(lambda method, *_: (200 if method == "GET" else status, known)) as url:
        load = LiveLoad(url, PEOPLE, 4)
        with closing(load._connections):
            for _ in range(4):
                load.step(Rates(40, 1), time.time())
            load.sample().write(tmp_path)
            history = History()
            history.read(tmp_path)
            later = load.sample()

    assert history.latest.totals["failed"] > 0
    assert history.latest.rates["failed"] > 0
    assert f"posts; lately: {reason}" in shown.figures(history.latest)
    assert later.rates["failed"] == 0
    assert f"posts; lately: {reason}" in shown.figures(later)


def history_of(**counts):
    """A sample of a service that says nothing of itself."""
    counts = dict.fromkeys(COUNTS, 0) | counts
    unknown = {"p50": None, "p99": None}
    audit = {"found": 0, "missing": 0, "pending": 0}
    sample = Sample(1.0, counts, counts, "", unknown, unknown, None, None, [], [], audit)
    return History(deque([sample]))


def test_what_the_service_does_not_say_is_not_zero():
    history = history_of()

    assert "0.0 s" not in shown.figures(history.latest)
    lag, backlog = curves.data(history)[-2:]
    assert lag["data"] == [[0, None]]
    assert backlog["data"] == [[0, None]]


def test_refused_and_failed_are_told_apart():
    history = history_of(offered=9, refused=2, failed=3)

    assert {"refused", "failed"} <= {it["name"] for it in curves.data(history)}
    assert "2 refused, 3 failed" in shown.summary(history.latest)


def test_both_sides_have_the_scale_of_the_larger_one():
    small, large = history_of(offered=3), history_of(offered=140)

    assert curves.tops([small, large]) == [200, 1, 1]
    assert curves.tops([small]) == [5, 1, 1]

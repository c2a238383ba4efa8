from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from lab.experiments import fanout
from lab.experiments.base import RunOptions
from lab.results import figures
from lab.results.requests import NO_ANSWER, read_requests
from lab.running.load import WARM_UP_S, Load
from launch.processes import RunFailed
from launch.service import Receipt

RECEIPTS = [
    Receipt(created_at=100.0, delivered_at=100.1, deliveries=501),
    Receipt(created_at=101.0, delivered_at=101.3, deliveries=501),
    Receipt(created_at=102.0, delivered_at=104.5, deliveries=1),
]
LOAD = Load(500, 10, "locustfiles/fanout.py", counted=("POST /v1/posts/",))
PENDING = Receipt(created_at=103.0, delivered_at=None, deliveries=501)


def test_figures_are_of_single_values_and_none_without_any():
    names = ("mean", "p50", "p99", "max")

    found = figures.percentiles(np.arange(1, 1002), names)
    assert found == {"mean": 501, "p50": 501, "p99": 991, "max": 1001}
    assert figures.percentiles([], names) == dict.fromkeys(names)


def test_a_post_without_a_receipt_has_waited_until_they_were_read():
    assert figures.lag_ms([*RECEIPTS, PENDING], 231.0) == pytest.approx([100, 300, 2500, 128_000])


def test_the_interval_of_the_median_narrows_with_more_runs():
    few, many = [90.0, 100.0, 110.0], [90.0, 110.0, *[100.0 + n / 10 for n in range(-5, 6)]]

    assert figures.interval_of_median(few) == (90.0, 110.0)
    low, high = figures.interval_of_median(many)
    assert 99 < low < 100 < high < 101
    assert figures.interval_of_median([]) == (0.0, 0.0)


def test_deliveries_count_at_their_receipt():
    receipts = [*RECEIPTS, PENDING]

    assert figures.deliveries(receipts, 100, 102) == 1002
    assert figures.flow(receipts, 101, 104) == (1, 2)
    assert figures.drain_s(RECEIPTS) == 2.5
    assert figures.drain_s(receipts) is None  # a post without a receipt never drained


def test_receipts_are_grouped_by_the_power_of_ten_of_their_deliveries():
    sizes = {
        most: [receipt.deliveries for receipt in group]
        for most, group in figures.by_size(
            [Receipt(1.0, 1.1, count) for count in (1001, 1, 10, 11, 1000, 501)]
        ).items()
    }

    assert sizes == {10: [1, 10], 100: [11], 1000: [501, 1000], 10_000: [1001]}


def test_the_backlog_rises_with_posts_and_falls_with_receipts():
    backlog = dict(figures.backlog([*RECEIPTS, PENDING], start=100.0))

    assert backlog[0.0] == 1
    assert backlog[0.5] == 0
    assert backlog[3.0] == 2
    assert backlog[4.5] == 1


@pytest.fixture
def requests_csv(tmp_path):
    """Write logs of (second, milliseconds, exception, name) as Locust does; return their folder."""

    def write(*rows, unanswered=()):
        path = tmp_path / "requests.csv"
        lines = [
            "timestamp,request_type,name,response_time_ms,response_length,status_code,exception"
        ]
        lines += [
            f"{1000 + at},{'POST' if name.endswith('posts/') else 'GET'},{name},{ms},1,201,{error}"
            for at, ms, error, name in rows
        ]
        path.write_text("\n".join(lines))
        waited = [f"{1000 + at},POST,/v1/posts/,{ms}" for at, ms in unanswered]
        log = "\n".join(["timestamp,request_type,name,waited_ms", *waited])
        (tmp_path / "unanswered.csv").write_text(log)
        return tmp_path

    return write


def test_only_posts_that_end_within_the_window_count(requests_csv):
    start = WARM_UP_S
    folder = requests_csv(
        (0, 10, "", "/v1/posts/"),
        (start - 0.5, 400, "", "/v1/posts/"),  # ends before the window
        (start - 0.5, 700, "", "/v1/posts/"),  # ends in it
        (start + 3, 20, "", "/v1/posts/"),
        (start + 3, 30, "", "/v1/feed/"),
        (start + 4, 40, "status 503", "/v1/posts/"),
        (start + 9.9, 200, "", "/v1/posts/"),  # ends after it
    )

    requests = read_requests(folder, LOAD)

    assert sorted(requests.latency_ms) == pytest.approx([20, 700])
    assert requests.failures == {"status 503": 1}
    assert requests.window[1] - requests.window[0] == 10
    assert requests.routes["GET /v1/feed/"].latency_ms == pytest.approx([30])
    every = read_requests(folder, replace(LOAD, counted=()))
    assert sorted(every.latency_ms) == pytest.approx([20, 30, 700])


@pytest.mark.parametrize(
    ("rows", "reason"),
    [((), "no answer"), (((0, 10, "", "/v1/posts/"),), "nothing was answered within 10 s")],
)
def test_a_load_without_an_answer_fails_the_run(requests_csv, rows, reason):
    with pytest.raises(RunFailed, match=reason):
        read_requests(requests_csv(*rows), LOAD)


def test_unanswered_requests_count_as_waiting_and_have_failed_if_their_answer_was_waited_for(
    requests_csv,
):
    start = WARM_UP_S
    folder = requests_csv(
        (0, 10, "", "/v1/posts/"),
        (start + 4, 1000, "", "/v1/posts/"),
        unanswered=[(start - 2, 13_000), (start + 8, 3_000)],
    )

    requests = read_requests(folder, LOAD)

    assert requests.waiting_at_end == 2
    assert requests.in_flight == pytest.approx((1 + 10 + 2) / 10)
    assert (len(requests.latency_ms), requests.failures) == (1, {})
    assert read_requests(folder, replace(LOAD, patience_s=30)).failures == {NO_ANSWER: 1}


@pytest.mark.parametrize(("backlogs", "errors"), [([0], []), ([7, 7, 3], ["7 posts left"])])
def test_a_drain_that_takes_too_long_is_given_up_and_reported(tmp_path, backlogs, errors):
    service = SimpleNamespace(folder=tmp_path, drain=lambda: (posts for posts in backlogs))
    measured = SimpleNamespace(
        service=service, result=SimpleNamespace(errors=[]), options=RunOptions(drain_within_s=0)
    )

    drained_at = fanout.drain(measured)

    assert (drained_at is None) == bool(errors)
    assert measured.result.errors == [f"not drained within 0 s: {error}" for error in errors]

"""Results that a report refuses because they break a law."""

import pytest

from lab.results.laws import broken, implied_mean_s, is_cut_off
from tests.lab.test_report import balance, report_of, result

AS_COMMITTED = {
    "achieved_rps": 20.2,
    "requests": 404,
    "failures": 0,
    "window_s": 20,
    "latency_ms": {"mean": 13_842.0, "p95": 22_666.0, "p99": 23_363.0},
}
"""mysql_tuned-inline-rowwise in the report of 8bebcf4: 500 users can't wait for so short a time."""


def test_figures_without_the_sides_of_the_laws_are_inconsistent(tmp_path):
    status, markdown = report_of(tmp_path, result(balance=None, **AS_COMMITTED))

    assert status == 3
    assert "| clean | inconsistent |" in markdown
    assert "its laws can't be checked" in markdown
    assert not list(broken(result(audit=None, balance=None)))  # not finished: fails for that alone


def test_latencies_cut_off_by_the_window_are_lower_bounds(tmp_path):
    one = result(**AS_COMMITTED, balance=balance(20.2, cycle_s=13.842))

    status, markdown = report_of(tmp_path, one)

    assert status == 3
    assert "| ≥ 24,752 | ≥ 22,666 | ≥ 23,363 |" in markdown
    assert "by Little's law the mean is 24.8 s" in markdown


def test_users_who_wait_for_longer_than_the_window_are_accounted_for(tmp_path):
    """Only refused users get an answer; all others wait, and are counted."""
    refused = result(achieved_rps=0.0, failures=10, latency_ms={}, window_s=40)
    refused.balance = balance(214.0, cycle_s=1.5, in_flight=481.0, waiting_at_end=500)

    assert is_cut_off(refused)
    assert not list(broken(refused))
    refused.balance = balance(214.0, cycle_s=1.5, in_flight=310.0, waiting_at_end=320)
    assert "321 users, not 500" in next(broken(refused))


def test_answered_requests_are_not_cut_off():
    assert not is_cut_off(result(**AS_COMMITTED, balance=balance(20.2, patient=True)))


def test_more_or_fewer_users_than_there_are_break_littles_law():
    assert "20.2 users, not 500" in next(broken(result(balance=balance(20.2, cycle_s=1.0))))
    (sentence,) = broken(result(balance=balance(250.0, cycle_s=3.0)))

    assert sentence.startswith("Little's law: 250/s * 3 s is 750 users")


def test_the_pause_is_part_of_a_cycle():
    assert implied_mean_s(result(balance=balance(100.0, arrivals="paused"))) == pytest.approx(4.0)


def test_open_arrivals_have_to_keep_their_schedule():
    assert not list(broken(result(balance=balance(495.0, arrivals="open"))))
    (sentence,) = broken(result(balance=balance(400.0, arrivals="open")))

    assert sentence == "arrivals: 400/s began, not 500"


def test_unaccounted_cores_break_the_utilisation_law():
    used = {"web": 20.0, "locust": 4.0}  # 1.2 cores of the 20 s

    assert not list(broken(result(cpu_s=used, balance=balance(busy_cores=1.3))))
    (sentence,) = broken(result(cpu_s=used, balance=balance(busy_cores=1.9)))

    assert sentence.startswith("utilisation: 1.9 cores were busy, but the run's processes used 1.2")


def test_without_the_cores_of_external_servers_utilisation_is_not_judged():
    used = {"web": 20.0, "database": None}

    assert not list(broken(result(cpu_s=used, balance=balance(busy_cores=1.9))))


def test_posts_that_are_neither_delivered_nor_in_the_backlog_break_the_flow_balance():
    sides = {"accepted": 2_000, "delivered": 1_500}

    assert not list(broken(result(balance=balance(backlog_growth=480, **sides))))
    (sentence,) = broken(result(balance=balance(backlog_growth=100, **sides)))

    assert (
        "2,000 posts were accepted, but 1,500 delivered while the backlog grew by 100" in sentence
    )

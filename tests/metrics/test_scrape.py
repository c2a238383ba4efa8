"""A real Prometheus scrapes a running variant: app servers, a drainer and their backlog."""

import os
import signal
import sys
import time
import urllib.request
from contextlib import closing
from http.client import HTTPConnection
from ipaddress import ip_network

import pytest

from lab.faults.running import SEED, wait_for
from launch.processes import free_port
from metrics.scrape import may_scrape
from tests.metrics.prometheus import metered, watch

REQUESTS = 'sum(feed_requests_total{route="v1/posts/", method="POST"})'
POSTS = "sum(feed_posts_delivered_total)"
OWNERS = SEED.friends + 1


@pytest.fixture
def broken(tmp_path):
    """A service for a test that breaks it."""
    with metered(tmp_path) as running:
        yield running


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A service for tests that break nothing; its counts continue from test to test."""
    with metered(tmp_path_factory.mktemp("whole")) as running:
        yield running


@pytest.fixture(scope="module")
def prometheus(whole):
    return watch(whole)


def post(running, seconds=1.0):
    """Post with several clients, then wait for the drain; return the number of posts."""
    with running.load(8):
        time.sleep(seconds)
    list(running.service.drain())
    return len(running.accepted)


def ask(running, path, method="GET", **headers):
    with closing(HTTPConnection("127.0.0.1", running.service.port, timeout=10)) as client:
        client.request(method, path, headers=headers)
        answer = client.getresponse()
        return answer.status, answer.read().decode()


def test_every_request_delivery_and_lag_is_counted_over_all_processes(whole, prometheus):
    assert len(whole.workers_of("web")) >= 2

    posts = post(whole)

    prometheus.wait_for(REQUESTS, posts)
    prometheus.wait_for(f"{REQUESTS[:-2]}, status='201'}})", posts)
    prometheus.wait_for('sum(feed_request_seconds_count{route="v1/posts/"})', posts)
    prometheus.wait_for(POSTS, posts)
    prometheus.wait_for("sum(feed_deliveries_total)", posts * OWNERS)
    prometheus.wait_for("sum(feed_lag_seconds_count)", posts)
    receipts = whole.service.receipts()
    lags_s = [round(post.delivered_at - post.created_at, 6) for post in receipts]
    counted_s = prometheus.number("sum(feed_lag_seconds_sum)")
    assert counted_s == pytest.approx(sum(lags_s), abs=0.01)
    for bound in ("0.05", "0.2", "60.0"):
        counted = prometheus.number(f'feed_lag_seconds_bucket{{le="{bound}"}}')
        assert counted == sum(lag_s <= float(bound) for lag_s in lags_s)


def test_counts_survive_a_killed_app_worker_and_a_stopped_drainer(broken):
    prometheus = watch(broken)
    before = post(broken)
    prometheus.wait_for(REQUESTS, before)
    for victim in broken.workers_of("web")[:2]:
        os.kill(victim, signal.SIGKILL)
    broken.processes.stop("workers")
    broken.service.start_workers()

    broken.accepted.clear()
    broken.refused.clear()
    after = before + post(broken) + len(broken.refused)

    assert prometheus.number(REQUESTS) >= before
    prometheus.wait_for(POSTS, broken.query("SELECT count(*) FROM feed_post"))
    assert before < prometheus.number(REQUESTS) <= after
    assert prometheus.number(f"sum(resets({REQUESTS[4:-1]}[5m]))") == 0
    assert prometheus.number("sum(resets(feed_deliveries_total[5m]))") == 0


def test_only_running_processes_count_connections(whole, prometheus):
    prometheus.wait_for(POSTS, post(whole))
    held = prometheus.number("feed_database_connections")
    assert 2 <= held <= (4 + 2) * len(whole.workers_of("web")) + 1  # threads, probes; drainer

    whole.processes.stop("workers")

    prometheus.wait_for("feed_database_connections", held - 1)
    whole.service.start_workers()


def test_the_number_of_series_is_bounded_for_any_urls_and_methods(whole, prometheus):
    before = prometheus.number("count(feed_requests_total)")
    for number in range(1, 101):
        ask(whole, f"/v1/people/{number}/posts/")
        ask(whole, f"/no/such/{number}")
        ask(whole, "/healthz", method="ABCDEFGHIJ"[number % 5 :][:5])

    for labels in (
        'route="v1/people/<id:author_id>/posts/"',
        'route="", status="404"',
        'method="other"',
    ):
        prometheus.wait_for(f"sum(feed_requests_total{{{labels}}})", 100)
    assert prometheus.number("count(feed_requests_total)") <= before + 6


def test_prometheus_may_scrape_by_any_address_but_not_through_a_proxy(whole):
    assert ask(whole, "/healthz", Host="10.0.0.7:8000")[0] == 400

    status, text = ask(whole, "/metrics", Host="10.0.0.7:8000")

    assert status == 200
    assert "feed_backlog_posts " in text
    forwarded = {"X-Forwarded-For": "127.0.0.1"}
    assert ask(whole, "/metrics", **forwarded)[0] == 404


def test_a_scrape_in_the_moment_in_which_a_process_creates_its_file_is_answered(whole):
    created = whole.folder / "metrics/counter_0.db"
    created.touch()
    status, text = ask(whole, "/metrics")
    created.unlink()

    assert status == 200
    assert "feed_requests_total{" in text


@pytest.mark.parametrize(
    ("address", "may"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("10.0.0.7", False),
        ("2001:db8::7", False),
        ("", False),  # a UNIX socket
    ],
)
def test_only_this_machine_may_scrape_by_default(address, may):
    assert may_scrape({"REMOTE_ADDR": address}) is may


def test_more_networks_may_scrape_if_they_are_named(settings):
    settings.METRICS_ALLOW = [ip_network("10.0.0.0/8")]

    assert may_scrape({"REMOTE_ADDR": "10.0.0.7"})
    assert not may_scrape({"REMOTE_ADDR": "127.0.0.1"})


def test_a_drainer_with_its_own_folder_answers_on_its_own_port(broken):
    broken.processes.stop("workers")
    port = free_port()
    own = {"METRICS_PORT": str(port), "PROMETHEUS_MULTIPROC_DIR": f"{broken.folder}/own"}
    environment = broken.service.environments[0] | own
    broken.processes.start("workers", [sys.executable, "manage.py", "drain"], environment)

    posts = post(broken, seconds=0.3)

    expected = f'feed_posts_delivered_total{{store="setbased",strategy="outbox"}} {float(posts)}'
    wait_for(lambda: expected in scraped(port), 60)
    assert "feed_posts_delivered" not in ask(broken, "/metrics")[1]


def scraped(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        return answer.read().decode()

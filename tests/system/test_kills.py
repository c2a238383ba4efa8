"""SIGKILL under load, during the work: accepted posts still arrive, once."""

import sys
import time

import psutil
import pytest

from lab.faults.running import SEED, kill_when, serving

pytestmark = pytest.mark.alone

PENDING = "SELECT count(*) FROM feed_post WHERE delivered_at IS NULL"
UNPAID = f"""
    SELECT (SELECT count(*) FROM feed_post WHERE delivered_at IS NOT NULL) * {SEED.friends + 1}
         - (SELECT count(*) FROM feed_timeline_setbased)
"""


@pytest.fixture
def running(request, tmp_path):
    with serving(request.param, tmp_path) as running:
        time.sleep(1)
        yield running


@pytest.mark.parametrize("running", ["sqlite-outbox-setbased"], indirect=True)
def test_a_drainer_that_is_killed_loses_nothing(running):
    killed = kill_when(lambda: running.workers_of("workers"), running.in_transaction)
    killed_at = time.monotonic()
    claimed = running.query(PENDING)
    time.sleep(1)
    backlog = running.query(PENDING)
    running.processes.stop("workers")
    running.service.start_workers()
    started_at = time.monotonic()
    time.sleep(1)
    audit = running.audit()

    assert not psutil.pid_exists(killed)
    assert claimed > 0  # a batch was in flight
    assert backlog > claimed  # nobody else delivered
    assert running.accepted_between(0, killed_at) > 0
    assert running.accepted_between(killed_at, started_at) > 0
    assert running.accepted_between(started_at, time.monotonic()) > 0
    assert audit["posts"] >= len(running.accepted)
    assert audit["ok"], audit


@pytest.mark.parametrize("running", ["sqlite-inline-setbased"], indirect=True)
def test_an_app_worker_that_is_killed_loses_nothing_that_it_had_accepted(running):
    killed = kill_when(lambda: running.workers_of("web"), running.in_transaction)
    killed_at = time.monotonic()
    while killed in running.workers_of("web") or len(running.workers_of("web")) < 2:
        time.sleep(0.01)  # gunicorn replaces the worker
    replaced_at = time.monotonic()
    time.sleep(2)
    audit = running.audit()

    assert any(at >= killed_at for at in running.refused)  # a client waited for the dead one
    assert running.accepted_between(0, killed_at) > 0
    assert running.accepted_between(replaced_at, time.monotonic()) > 0
    assert audit["posts"] >= len(running.accepted)
    assert audit["ok"], audit


@pytest.mark.parametrize("running", ["sqlite-outbox-setbased"], indirect=True)
def test_the_audit_goes_red_when_receipts_come_before_the_deliveries(running):
    """The control: the same kill, with a drainer that lacks the safeguard."""
    (env,) = running.service.environments
    running.processes.stop("workers")
    running.processes.start("workers", [sys.executable, "tests/system/receipt_first.py"], env)

    kill_when(lambda: running.workers_of("workers"), lambda _: running.query(UNPAID) > 0)
    running.processes.stop("workers")
    running.service.start_workers()
    time.sleep(1)
    audit = running.audit()

    assert audit["missing"] > 0
    assert not audit["ok"]

"""The same for Celery, whose messages and workers may vanish while posts are on their way."""

import os
import signal
import time

import psutil
import pytest
import redis

from tests.system.processes import Running, kill_when

STRATEGIES = ["task", "chunked", "outbox_celery"]
PENDING = "SELECT count(*) FROM feed_post WHERE delivered_at IS NULL"


@pytest.fixture(params=STRATEGIES)
def running(request, tmp_path, monkeypatch):
    monkeypatch.setenv("FEED_GRACE_S", "1")
    with Running(f"mysql_tuned-{request.param}-setbased", tmp_path) as running:
        wait_for(lambda: running.query("SELECT count(*) FROM feed_post WHERE delivered_at > 0"))
        yield running


def wait_for(condition, within_s=20):
    give_up_at = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < give_up_at
        time.sleep(0.01)


def celery_main(running):
    """The process of the Celery worker whose children do the work."""
    candidates = map(psutil.Process, running.processes.pids("workers"))
    (main,) = [process for process in candidates if "celery" in process.cmdline()]
    return main


def children(running):
    return [child.pid for child in celery_main(running).children()]


def in_flight(running):
    """A process is hit inside its transaction, while there are posts to deliver."""
    return lambda pid: running.in_transaction(pid) and running.query(PENDING) > 0


def assert_all_arrived(running, fault_at):
    """Posts were accepted before the fault, right after it and later, and every one arrived."""
    time.sleep(2)
    audit = running.audit()

    assert running.accepted_between(0, fault_at) > 0
    assert running.accepted_between(fault_at, fault_at + 0.5) > 0
    assert running.accepted_between(fault_at + 0.5, time.monotonic()) > 0
    assert audit["posts"] >= len(running.accepted)
    assert audit["ok"], audit


def test_a_celery_child_that_is_killed_loses_nothing(running):
    killed = kill_when(lambda: children(running), in_flight(running))
    killed_at = time.monotonic()

    wait_for(lambda: killed not in children(running))
    assert_all_arrived(running, killed_at)


def test_a_celery_worker_that_is_killed_whole_loses_nothing(running):
    main = celery_main(running)
    kill_when(lambda: children(running), in_flight(running))
    rest = [main, *main.children()]
    for process in rest:
        os.kill(process.pid, signal.SIGKILL)
    killed_at = time.monotonic()

    time.sleep(0.5)
    running.processes.stop("workers")
    running.service.start_workers()
    assert_all_arrived(running, killed_at)


def test_a_broker_that_forgets_everything_loses_nothing(running):
    main = celery_main(running)
    broker = redis.Redis.from_url(running.service.environments[0]["BROKER_URL"])
    main.suspend()  # so that messages wait for it
    wait_for(lambda: broker.llen("celery") > 0)
    waiting = running.query(PENDING)
    broker.flushdb()
    flushed_at = time.monotonic()
    main.resume()

    assert waiting > 0
    assert_all_arrived(running, flushed_at)

"""Every queue, with each of its brokers: real workers carry out the tasks of real posts."""

import os
import sys
from signal import SIGKILL

import psutil
import pytest

from lab.faults.running import serving, wait_for
from launch.backends import backends
from launch.service import Seed
from launch.variants import Variant

SEED = Seed(people=20, friends=10)
NO_SWEEP = {"FEED_GRACE_S": "1000"}
"""Nothing but a message lets a post be delivered."""
WITHIN_S = 60
HELD = f"""
from lab.faults.running import wait_for
from workers.queues import get_queue
queue = get_queue()
wait_for(lambda: queue.held() == {{}}, {WITHIN_S})
"""


def variants():
    """Yield a variant of each queue, as tuned, with each of its brokers."""
    for alias, queue in backends().queues.items():
        if alias.endswith("_default"):
            continue
        database = "postgres_default" if queue.needs_postgresql else "sqlite"
        for broker in queue.brokers or ("",):
            yield f"{database}-task-setbased@{alias}{'+' * bool(broker)}{broker}"


@pytest.fixture(scope="module", params=variants())
def running(request, tmp_path_factory, monkeypatch_module):
    with serving(Variant.named(request.param), tmp_path_factory.mktemp("run"), SEED) as running:
        yield running


@pytest.fixture(scope="module")
def monkeypatch_module():
    with pytest.MonkeyPatch.context() as patch:
        for name, value in NO_SWEEP.items():
            patch.setenv(name, value)
        yield patch


def post(running, count):
    """Accept so many posts, and return when the last was."""
    with running.load(2):
        wanted = len(running.accepted) + count
        wait_for(lambda: len(running.accepted) >= wanted, WITHIN_S)


def pending(running):
    return running.query("SELECT count(*) FROM feed_post WHERE delivered_at IS NULL")


def wait_until_held(running, count):
    """Wait until the queue says that it has so many messages."""
    (env,) = running.service.environments
    command = [sys.executable, "manage.py", "shell", "--no-imports"]
    running.processes.call("shell", [*command, f"--command={HELD.format(count)}"], env)


def family_of(running):
    """Return the processes below manage.py work."""
    (work,) = running.processes.pids("workers")
    return psutil.Process(work).children(recursive=True)


def test_every_post_is_delivered_by_its_own_message(running):
    post(running, 20)

    wait_for(lambda: not pending(running), WITHIN_S)
    assert running.service.audit(running.drained())["ok"]


def test_messages_wait_for_workers_that_are_away(running):
    family = family_of(running)
    running.service.stop_workers()
    _, alive = psutil.wait_procs(family, timeout=WITHIN_S)
    assert not alive
    post(running, 5)

    waiting = pending(running)
    assert waiting >= 5
    wait_until_held(running, waiting)  # they are sent after the answer
    running.service.start_workers()

    wait_for(lambda: not pending(running), WITHIN_S)
    wait_until_held(running, 0)


def test_a_process_that_dies_is_replaced_alone_or_with_all_others(running):
    queue = backends().queues[running.service.variant.queue]
    post(running, 5)
    wait_for(lambda: not pending(running), WITHIN_S)  # so they have begun to work
    restarts, family = running.service.restarts, family_of(running)
    workers = running.workers_of("workers")
    os.kill(workers[0], SIGKILL)

    def replaced():
        running.service.revive_workers()
        if queue.needs_supervisor and running.service.restarts == restarts:
            return False  # another worker may have begun only now
        now = running.workers_of("workers")
        return workers[0] not in now and len(now) >= len(workers)

    wait_for(replaced, WITHIN_S)
    assert (running.service.restarts > restarts) == queue.needs_supervisor
    if queue.needs_supervisor:
        psutil.wait_procs(family, timeout=WITHIN_S)  # who still listens may take a message along
    post(running, 5)
    wait_for(lambda: not pending(running), WITHIN_S)

"""Timelines are lost under load, at random moments, while readers compare every page."""

import os
import random
import time
from contextlib import closing

import pytest

from lab.faults.readers import LATEST_S, Readers
from lab.faults.running import serving, wait_for
from tests.system import faults

pytestmark = pytest.mark.alone

MOMENTS = int(os.environ.get("HEALING_MOMENTS", "1"))
RING = "mysql_tuned-outbox-ring"
LOG = "mysql_tuned-outbox-log"
EPOCH = "SELECT number FROM feed_epoch"


@pytest.fixture(scope="module")
def service(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    with serving(getattr(request, "param", RING), folder, clients=0) as running:
        yield running


@pytest.fixture
def running(service):
    """The service under load; earlier accepted posts are audited again."""
    with service.load(clients=4):
        time.sleep(1)
        yield service


def assert_whole(running, readers):
    audit = running.audit_pages()

    assert readers.wrong == []
    assert set(readers.statuses) <= {200, 503}
    assert readers.compared > 1000
    assert (audit["missing"], audit["duplicated"], audit["unexpected"]) == (0, 0, 0)
    assert audit["posts"] >= len(running.accepted)


def assert_every_page_is_whole(running, fault):
    lost = []
    with Readers(running) as readers:
        for _ in range(MOMENTS):
            time.sleep(random.uniform(0.5, 1.5))
            before = time.monotonic()
            lost.append(fault(running, readers))
            after, seen = time.monotonic(), readers.compared
            time.sleep(LATEST_S)
            wait_for(lambda seen=seen: readers.compared > seen)
            assert running.accepted_between(0, before) > 0
            assert running.accepted_between(after, time.monotonic()) > 0
        time.sleep(LATEST_S)

    assert_whole(running, readers)
    assert min(lost) > 0


@pytest.mark.parametrize("fault", [faults.empty, faults.evict, faults.spoil])
@pytest.mark.parametrize("service", [LOG], indirect=True)
def test_every_page_is_whole_after_timelines_were_lost(fault, running):
    assert_every_page_is_whole(running, fault)


@pytest.mark.parametrize("fault", [faults.kill_drainer, faults.outlive_a_claim, faults.step_back])
def test_every_page_is_whole_after_a_drainer_or_the_clock_failed(fault, running):
    assert_every_page_is_whole(running, fault)


@pytest.mark.parametrize(
    "fault", [faults.restart_redis, faults.restore_redis, faults.restore_database]
)
def test_every_page_is_whole_after_a_new_epoch_has_begun_by_itself(fault, running):
    def lose(running, readers):
        before = running.query(EPOCH)
        lost = fault(running, readers)
        wait_for(lambda: running.query(EPOCH) != before)
        return lost

    assert_every_page_is_whole(running, lose)


def test_changed_friendships_show_at_once_under_load(running):
    """Two people end and begin a friendship as fast as they can; one of them reads in between."""
    one, other = 1, 2
    readers = Readers(running)
    changes = 0
    with closing(readers.connection()) as http:
        until = time.monotonic() + 2 * MOMENTS
        while changes <= 10 or time.monotonic() < until:
            readers.unfriend(http, one, other)
            assert readers.read(http, one) == 200
            readers.befriend(http, one, other)
            assert readers.read(http, one) == 200
            changes += 2

    assert_whole(running, readers)


def test_every_page_is_whole_after_another_store_was_chosen(running):
    assert_every_page_is_whole(running, faults.switch)

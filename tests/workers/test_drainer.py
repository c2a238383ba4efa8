import signal
import subprocess
import sys
import threading
import time
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.db.models.functions import Now
from redis.exceptions import ResponseError

from accounts import limits
from feed import delivery, epochs
from feed.delivery import deliver_pending
from feed.models import FollowChange, Post, SetBasedEntry
from feed.timeline_stores.rows import SetBased
from tests.conftest import database_url, whole_timelines
from tests.sessions import wait_until
from workers import drainer as module
from workers.drainer import Drainer


@pytest.fixture
def pending(transactional_db, settings, friends):
    """Ten accepted posts, none delivered."""
    settings.FEED_STRATEGY, settings.FEED_TIMELINE_STORE = "outbox", "setbased"
    whole_timelines()
    return [Post.objects.create(author_id=1, body="text") for _ in range(10)]


def receipts():
    return set(Post.objects.exclude(delivered_at=None).values_list("id", flat=True))


def test_a_late_commit_with_a_small_id_is_not_skipped(pending):
    """Ids commit out of order; what counts is the missing receipt, not the id."""
    late = pending[0].id
    Post.objects.filter(id=late).delete()
    deliver_pending(limit=100)

    Post.objects.create(id=late, author_id=1, body="late")

    assert deliver_pending(limit=100) == 1
    assert late in receipts()


def test_a_post_from_before_the_clock_was_put_back_is_not_left_to_its_request(pending, settings):
    settings.FEED_STRATEGY = "inline"
    Post.objects.filter(id=pending[3].id).update(created_at=Now() + timedelta(hours=1))

    assert deliver_pending(limit=100) == 1

    assert receipts() == {pending[3].id}


def test_a_batch_that_fails_leaves_no_receipt_and_no_delivery(pending):
    def refuse_receipts(execute, sql, *args):
        if sql.startswith("UPDATE"):
            raise OperationalError("disk full")
        return execute(sql, *args)

    with connection.execute_wrapper(refuse_receipts), pytest.raises(OperationalError):
        deliver_pending(limit=100)

    assert receipts() == set()
    assert not SetBasedEntry.objects.exists()


@pytest.mark.parametrize("error", [OperationalError("database is locked"), RuntimeError("odd")])
def test_the_drainer_survives_any_error(error, pending, monkeypatch, caplog):
    monkeypatch.setattr(module, "RETRY_S", 0.01)
    outcomes = iter([error])

    def sometimes(limit):
        for error in outcomes:
            raise error
        delivered = deliver_pending(limit)
        if not Post.objects.pending().exists():
            drainer.stop()
        return delivered

    drainer = Drainer(batch=4, idle_s=0.001, linger_s=0, work=sometimes)
    drainer.run()

    assert receipts() == {post.id for post in pending}
    assert caplog.messages == [f"trying again in 0.01 s: {error}"]


@pytest.fixture
def left_behind(pending, undelayed, monkeypatch):
    """Changes of a process that died: 1 and 2, who cannot be changed, and 1 and 3."""
    monkeypatch.setattr("feed.follows.LEFT_BEHIND_S", 0)
    changes = [FollowChange.objects.create(author_id=1, reader_id=n) for n in (2, 3)]
    FollowChange.objects.update(changed_at=Now() - timedelta(seconds=1))
    change = SetBased.change

    def fail(store, owner_ids, *, through):
        if 2 in owner_ids:
            raise ResponseError("WRONGTYPE")
        change(store, owner_ids, through=through)

    monkeypatch.setattr(SetBased, "change", fail)
    return changes


def test_a_change_that_cannot_be_finished_waits_and_stops_neither_others_nor_deliveries(
    pending, left_behind, caplog
):
    assert deliver_pending(limit=100) == 10

    assert receipts() == {post.id for post in pending}
    assert [change.reader_id for change in FollowChange.objects.all()] == [2]
    assert caplog.messages == [f"FollowChange {left_behind[0].id} cannot be finished"]
    waits = FollowChange.objects.filter(changed_at__gt=Now() - timedelta(seconds=0.9))
    assert waits.exists()


def test_no_change_is_begun_after_the_time_for_it(pending, left_behind, monkeypatch):
    monkeypatch.setattr(delivery, "LOOK_AFTER_WITHIN_S", -1)

    assert deliver_pending(limit=100) == 10

    assert FollowChange.objects.count() == 2


def test_a_step_of_healing_that_fails_stops_neither_the_next_nor_deliveries(
    pending, left_behind, monkeypatch
):
    monkeypatch.setattr(epochs, "renew_if_lost", lambda store: 1 / 0)

    assert deliver_pending(limit=100) == 10

    assert FollowChange.objects.count() == 1


def test_one_process_heals_at_a_time_and_all_deliver(pending, left_behind):
    with limits.lease("heal", for_s=60):
        assert deliver_pending(limit=4) == 4
        assert FollowChange.objects.count() == 2

    assert deliver_pending(limit=100) == 6
    assert FollowChange.objects.count() == 1


def test_full_batches_follow_at_once_and_others_after_the_linger(pending):
    sizes, started = [], time.monotonic()

    def counting(limit):
        sizes.append(deliver_pending(limit))
        if not Post.objects.pending().exists():
            drainer.stop()
        return sizes[-1]

    drainer = Drainer(batch=4, idle_s=10, linger_s=5, work=counting)
    drainer.run()

    assert sizes == [4, 4, 2]
    assert time.monotonic() - started < 5  # the linger comes after a batch, not before it


def test_stopping_wakes_an_idle_drainer(transactional_db):
    drainer = Drainer(batch=4, idle_s=60, linger_s=0)
    threading.Timer(0.1, drainer.stop).start()

    started = time.monotonic()
    drainer.run()

    assert time.monotonic() - started < 5


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_command_delivers_and_stops_cleanly_on_a_signal(number, pending):
    process = subprocess.Popen(
        [sys.executable, "manage.py", "drain"],
        env={
            "DATABASE_URL": database_url(),
            "FEED_STRATEGY": "outbox",
            "SECRET_KEY": "x" * 50,
        },
        stderr=subprocess.PIPE,
    )
    wait_until(lambda: not Post.objects.pending().exists(), 60)

    process.send_signal(number)
    _, complaints = process.communicate(timeout=60)

    assert (process.returncode, complaints) == (0, b"")
    assert receipts() == {post.id for post in pending}
    assert SetBasedEntry.objects.count() == 30


@pytest.mark.parametrize("wrong", ["--batch=0", "--idle-ms=-1", "--linger-ms=-1"])
def test_the_command_refuses_invalid_options(wrong):
    with pytest.raises(CommandError, match="must be at least"):
        call_command("drain", wrong)

"""What has expired is removed, by command and by drainers."""

import time
from datetime import timedelta
from io import StringIO
from threading import Thread

import pytest
from django.core.management import call_command
from django.db import connections
from django.db.models.functions import Now

from accounts import limits
from accounts.models import Limit
from db.rows import delete_first
from feed import expiry
from feed.models import IdempotencyKey, Post
from tests.feed.test_api_idempotency import publish
from workers.drainer import Drainer

DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def due(monkeypatch):
    monkeypatch.setattr(expiry, "_next_at", float("-inf"))


def age(by, **which):
    IdempotencyKey.objects.filter(**which).update(created_at=Now() - by)


def keys():
    return IdempotencyKey.objects.count()


def test_an_idempotency_key_holds_for_a_day(author):
    publish(author, "key")
    age(DAY - timedelta(minutes=1))
    call_command("remove_expired", stdout=StringIO())
    assert publish(author, "key")["Idempotent-Replayed"] == "true"

    age(DAY + timedelta(seconds=1))
    call_command("remove_expired", stdout=StringIO())

    assert keys() == 0
    assert "Idempotent-Replayed" not in publish(author, "key")


def test_all_that_has_expired_is_removed_a_part_at_a_time(author):
    for number in range(7):
        publish(author, str(number))
        age(DAY + timedelta(seconds=number), author_id=1, post_id=Post.objects.last().id)

    assert delete_first(IdempotencyKey.objects.all(), "created_at", most=3)
    assert keys() == 3
    assert not delete_first(IdempotencyKey.objects.all(), "created_at", most=3)
    assert keys() == 0


def test_of_a_persons_keys_the_newest_are_kept(author, monkeypatch):
    monkeypatch.setattr(expiry, "MOST_KEYS", 3)
    for number in range(5):
        publish(author, str(number))
        age(timedelta(seconds=9 - number), post_id=Post.objects.order_by("id").last().id)

    expiry.remove_expired()

    assert keys() == 3
    assert [publish(author, key).get("Idempotent-Replayed") for key in "014"] == [
        None,
        None,
        "true",
    ]


def test_one_of_all_processes_removes_what_has_expired(db, monkeypatch):
    removed = []
    monkeypatch.setattr(expiry, "remove_expired", lambda: removed.append(1))

    for _ in range(3):
        expiry.remove_when_due()
        monkeypatch.setattr(expiry, "_next_at", float("-inf"))  # as in another process

    assert removed == [1]


def test_if_there_is_more_it_goes_on_at_once(db, monkeypatch):
    more = [True, True, False]
    monkeypatch.setattr(expiry, "remove_expired", lambda: more.pop(0))

    for _ in range(9):
        expiry.remove_when_due()

    assert more == []


def test_a_drainer_removes_what_has_expired(transactional_db):
    limits.take("old", burst=1, per_s=1000)
    Limit.objects.update(until_ms=1)
    drainer = Drainer(batch=1, idle_s=0.01, linger_s=0)

    def run():
        drainer.run()
        connections.close_all()

    thread = Thread(target=run)
    thread.start()
    deadline = time.monotonic() + 5
    while Limit.objects.filter(key="old").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    drainer.stop()
    thread.join()

    assert not Limit.objects.filter(key="old").exists()

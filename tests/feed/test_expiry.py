"""What has expired is removed, by command and by drainers."""

from datetime import timedelta
from io import StringIO
from threading import Thread

import pytest
from django.core.management import call_command
from django.db.models.functions import Now

from accounts import limits
from accounts.models import Limit
from db.rows import delete_first
from feed import epochs, expiry
from feed.models import Epoch, IdempotencyKey, Post
from feed.timeline import read_page
from feed.timeline_stores import get_timeline_store
from runtime.remembered import forget_all
from tests.conftest import begin_with, make_people
from tests.feed.deliveries import audited, posts_by
from tests.feed.test_api_idempotency import publish
from tests.parallel import in_a_thread
from tests.sessions import wait_until
from workers.drainer import Drainer

DAY = timedelta(days=1)


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
        forget_all()  # as in another process

    assert removed == [1]


def test_if_there_is_more_it_goes_on_at_once(db, monkeypatch):
    more = [True, True, False]
    monkeypatch.setattr(expiry, "remove_expired", lambda: more.pop(0))

    for _ in range(9):
        expiry.remove_when_due()

    assert more == []


@pytest.fixture(params=["setbased", "rowwise", "bulk"])
def rows(request, settings, friends, undelayed):
    """A store of rows with 300 posts of person 1 in three timelines."""
    settings.FEED_TIMELINE_STORE = request.param
    store, posts = get_timeline_store(), posts_by(1, 300)
    epochs.get_or_begin(begin_with(store))
    store.deliver(posts)
    return store


def kept(store, owner_id):
    return store.model.objects.filter(owner_id=owner_id).count()


def remove_all():
    for _ in range(20):
        if not expiry.remove_expired():
            return
    raise AssertionError("it never ends")


def pages(store):
    return [read_page(store, owner, limit=500).ids for owner in (1, 2, 3)]


def test_rows_that_nobody_reads_are_removed(rows):
    before, newest = pages(rows), Post.objects.latest("id").id
    rows.change([2], through=newest - 50)

    first = expiry.remove_expired()
    some = kept(rows, 2)
    remove_all()

    assert first
    assert 190 < some <= 200
    assert [kept(rows, owner) for owner in (1, 2, 3)] == [300, 50, 300]
    assert pages(rows) == before
    assert audited(rows).ok


def test_rows_of_an_epoch_before_are_removed_but_none_of_a_rebuilt_timeline(rows):
    before = pages(rows)
    epochs.begin(rows)
    rows.rebuild(3)

    remove_all()

    assert [kept(rows, owner) for owner in (1, 2, 3)] == [0, 0, 300]
    assert pages(rows) == before


def test_unread_rows_of_all_people_are_found(rows, monkeypatch):
    monkeypatch.setattr("feed.timeline_stores.rows.MOST_PEOPLE", 1)
    rows.change([1, 3], through=Post.objects.latest("id").id)

    for _ in range(12):
        expiry.remove_expired()

    assert [kept(rows, owner) for owner in (1, 2, 3)] == [0, 300, 0]


def test_rows_of_another_store_than_the_epochs_stay(rows):
    rows.change([1, 2, 3], through=Post.objects.latest("id").id)
    Epoch.objects.update(store="ring")

    assert not expiry.remove_expired()
    assert kept(rows, 2) == 300


def test_a_timeline_is_not_rebuilt_while_its_rows_are_removed(
    settings, transactional_db, undelayed, monkeypatch
):
    """A rebuilt timeline has rows below the floor that was read before."""
    settings.FEED_TIMELINE_STORE = "setbased"
    make_people(3, [(1, 2), (1, 3)])
    store, posts = begin_with(get_timeline_store()), posts_by(1, 20)
    store.deliver(posts)
    store.change([2], through=posts[-1].id)
    before, work = read_page(store, 2).ids, []

    def meanwhile(*arguments, **options):
        work.append(Thread(target=in_a_thread, args=(store.rebuild, 2)))
        work[0].start()
        work[0].join(0.5)
        return delete_first(*arguments, **options)

    monkeypatch.setattr("feed.timeline_stores.rows.delete_first", meanwhile)
    expiry.remove_expired()
    work[0].join()

    assert read_page(store, 2).ids == before
    assert kept(store, 2) == 20


def test_a_drainer_removes_what_has_expired(transactional_db):
    limits.take("old", burst=1, per_s=1000)
    Limit.objects.update(until_ms=1)
    drainer = Drainer(batch=1, idle_s=0.01, linger_s=0)

    thread = Thread(target=in_a_thread, args=[drainer.run])
    thread.start()
    try:
        wait_until(lambda: not Limit.objects.filter(key="old").exists())
    finally:
        drainer.stop()
        thread.join()

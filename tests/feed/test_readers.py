"""Nothing is delivered to people who don't read; when they return, their feed is whole."""

from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing, contextmanager, suppress
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import connection, connections

from accounts.follows import Edge, end, renew_versions
from accounts.models import Person
from feed import epochs, readers
from feed.models import Epoch, Reader
from feed.recipients import recipients_of
from feed.timeline import read_page
from feed.timeline_stores import timeline_stores
from tests.backends import here, stores_with
from tests.conftest import befriend, client_of
from tests.feed.deliveries import audited, ids, posts_by

PUSHED = here(stores_with(is_healing=True, is_computed_on_read=False))


@pytest.fixture(params=PUSHED)
def store(request, settings, friends, redis):
    """A store that delivers only to readers; person 1 is a friend of 2 and 3."""
    settings.FEED_TIMELINE_STORE = request.param
    settings.FEED_ACTIVE_DAYS = 7
    Epoch.objects.all().delete()
    store = timeline_stores[request.param]
    epochs.get_or_begin(store)
    return store


def read(store, owner_id):
    return read_page(store, owner_id).ids[::-1]


def last_read(owner_id, days_ago):
    day = readers._today() - timedelta(days=days_ago)
    Reader.objects.filter(person_id=owner_id).update(read_on=day)
    readers._noted.clear()  # what is cached is of today
    renew_versions(Person.objects.all())


def held(store, owner_id):
    """Return what the store holds for somebody, whether they read or not."""
    return store.members(owner_id)[::-1]


def test_posts_are_delivered_to_those_who_read(store):
    for owner_id in (1, 2):
        read(store, owner_id)
    posts = posts_by(1, 2)
    store.deliver(posts)

    assert [held(store, owner_id) for owner_id in (1, 2, 3)] == [ids(posts), ids(posts), []]
    assert [read(store, owner_id) for owner_id in (1, 2, 3)] == [ids(posts)] * 3


@pytest.mark.parametrize(("days", "delivered"), [(7, 1), (8, 1), (9, 0)])
def test_who_has_not_read_for_longer_gets_nothing(store, days, delivered):
    read(store, 2)
    last_read(2, days)
    store.deliver(posts_by(1, 1))

    assert len(held(store, 2)) == delivered
    assert len(read(store, 2)) == 1


def test_who_returns_finds_everything_and_is_delivered_to(store):
    read(store, 2)
    before = posts_by(1, 2)
    store.deliver(before)
    last_read(2, 30)
    missed = posts_by(1, 2)
    store.deliver(missed)
    assert held(store, 2) == ids(before)

    assert read(store, 2) == ids(before + missed)
    after = posts_by(1, 2)
    store.deliver(after)
    assert held(store, 2)[-2:] == ids(after)
    assert read(store, 2) == ids(before + missed + after)


def test_a_follower_who_returns_is_delivered_to_whether_the_author_reads_or_not(store):
    end(1, [Edge(author_id=2, reader_id=1)])
    read(store, 2)
    last_read(2, 30)
    store.deliver(posts_by(1, 1))
    read(store, 2)
    after = posts_by(1, 1)
    store.deliver(after)

    assert held(store, 2)[-1:] == ids(after)


def test_without_a_change_the_feed_would_be_short(store, monkeypatch):
    """The control: somebody returns, and what was missed is not left to the database."""
    read(store, 2)
    store.deliver(posts_by(1, 1))
    last_read(2, 30)
    missed = posts_by(1, 1)
    store.deliver(missed)
    monkeypatch.setattr(type(store), "change", lambda *arguments, **options: None)

    assert missed[0].id not in read(store, 2)


def test_a_return_that_died_half_way_is_finished_by_the_next_reader(store):
    read(store, 2)
    last_read(2, 30)
    missed = posts_by(1, 1)
    store.deliver(missed)
    readers._begin_to_deliver(2)
    assert not readers.is_active(2)

    assert read(store, 2) == ids(missed)
    assert readers.is_active(2)


@pytest.mark.django_db(transaction=True)
def test_a_friend_who_is_made_during_a_return_is_not_left_out(store, monkeypatch):
    """Another process makes one, and caches recipients, when the others have been read."""
    begun = []

    def make_a_friend():
        with closing(connection):
            befriend(4, 2)
            return recipients_of(posts_by(4, 1))

    def renewed(people):
        begun.append(pool.submit(make_a_friend))
        wait(begun, 1)  # or for as long as locks make it wait
        return renew_versions(people)

    monkeypatch.setattr(readers, "renew_versions", renewed)
    with ThreadPoolExecutor(1) as pool:
        read(store, 2)
    begun[0].result()
    posts = posts_by(4, 1)
    store.deliver(posts)

    assert sorted(recipients_of(posts)[0].tolist()) == [2, 4]
    assert read(store, 2)[-1:] == ids(posts)


def test_a_return_reads_nothing_from_a_replica(store, settings, monkeypatch):
    """It may not know of a friend yet. No test may connect to a second database."""
    monkeypatch.setitem(connections.settings, "replica", connections.settings["default"])
    router = SimpleNamespace(db_for_read=lambda model, **hints: "replica")
    settings.DATABASE_ROUTERS = [router]
    try:
        assert read(store, 2) == []
    finally:
        with suppress(AttributeError):  # nothing asked for it
            del connections["replica"]


def test_the_audit_leaves_those_who_do_not_read_to_the_database(store):
    read(store, 2)
    store.deliver(posts_by(1, 1))
    last_read(2, 30)
    store.deliver(posts_by(1, 1))
    found = audited(store)

    assert found.ok
    assert found.absent >= 2


def test_the_number_of_days_counts_from_the_next_epoch_on(store, settings, monkeypatch):
    monkeypatch.setattr(epochs, "CLOSED_S", 0)
    settings.FEED_ACTIVE_DAYS = 0
    assert readers.delivered_since() is not None

    epochs.begin(store)
    assert epochs.get_or_begin(store).active_days == 0
    assert readers.delivered_since() is None
    assert readers.is_active(2)


@pytest.mark.django_db(transaction=True)
def test_feeds_can_be_read_while_the_database_takes_no_writes(store):
    read(store, 1)
    posts = posts_by(1, 1)
    store.deliver(posts)
    with read_only():
        assert [post["id"] for post in feed_of(2)] == ids(posts)
    assert not Reader.objects.filter(person_id=2).exists()


def feed_of(person_id):
    response = client_of(person_id).get("/v1/feed/")
    assert response.status_code == 200
    return response.json()["posts"]


READ_ONLY = {
    "sqlite": ("PRAGMA query_only = ON", "PRAGMA query_only = OFF"),
    "mysql": ("SET SESSION TRANSACTION READ ONLY", "SET SESSION TRANSACTION READ WRITE"),
    "postgresql": (
        "SET default_transaction_read_only = on",
        "SET default_transaction_read_only = off",
    ),
}


@contextmanager
def read_only():
    begin, end = READ_ONLY[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(begin)
        yield
        cursor.execute(end)

"""What has to wait for a post that is being written and delivered (docs/decisions/0013)."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from time import sleep

import pytest
from django.db import connection, transaction

from feed import epochs, follows, people, statements
from feed.models import Post
from feed.services import publish_post
from feed.timeline import read_page
from feed.timeline_stores import get_timeline_store, timeline_stores
from tests.conftest import befriend, make_people, whole_timelines
from tests.feed.deliveries import audited
from tests.parallel import in_a_thread
from tests.sessions import wait_until, waiting

pytestmark = pytest.mark.django_db(transaction=True)
ENDINGS = {
    "unfriend": lambda: follows.unfriend(2, 1),
    "block": lambda: follows.block(1, 2),
    "end of all": lambda: follows.end_all(2),
    "deactivation": lambda: people.deactivate(1),
    "deletion": lambda: people.delete(1),
}
"""After these person 2 sees no post of person 1, also none that was in flight."""


@pytest.fixture(autouse=True)
def inline(settings):
    settings.FEED_STRATEGY, settings.FEED_TIMELINE_STORE = "inline", "setbased"
    make_people(3, [(1, 3)])
    befriend(1, 2)
    whole_timelines()


def waited_for_a_post(change, patch):
    """Make a change after a post of person 1 was delivered to all and before it is committed.

    Returns whether the change waited until then.
    """
    store, delivered, commit = get_timeline_store(), Event(), Event()
    deliver = store.deliver

    def deliver_and_wait(posts):
        deliver(posts)
        delivered.set()
        assert commit.wait(20)

    patch.setattr(store, "deliver", deliver_and_wait)
    with ThreadPoolExecutor(2) as pool:
        publishing = pool.submit(in_a_thread, lambda: publish_post(author_id=1, body="in flight"))
        assert delivered.wait(20)
        changing = pool.submit(in_a_thread, change)
        wait_until(lambda: changing.done() or somebody_waits())
        waits = not changing.done()
        commit.set()
        publishing.result(20)
        changing.result(20)
    patch.setattr(store, "deliver", deliver)
    return waits


def somebody_waits():
    if connection.vendor == "sqlite":
        sleep(0.5)  # there is one writer, which nobody can be asked about
        return True
    return bool(waiting())


def shown_to(person_id):
    store = get_timeline_store()
    ids = read_page(store, person_id).ids
    return list(Post.objects.live().filter(id__in=ids).values_list("body", flat=True))


@pytest.mark.skipif(connection.vendor == "sqlite", reason="there is one writer")
@pytest.mark.parametrize("alias", ["setbased", "packed"])
def test_changes_that_share_timelines_wait_for_one_another_without_a_deadlock(alias):
    store = timeline_stores[alias]
    with ThreadPoolExecutor() as pool:
        with transaction.atomic():
            store.change([7], through=1)
            other = pool.submit(in_a_thread, lambda: epochs.change(store, [8, 7]))
            wait_until(somebody_waits)
            store.change([8], through=1)
        other.result(20)


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_ends_a_friendship_waits_for_a_post_in_flight(ending, monkeypatch):
    assert waited_for_a_post(ENDINGS[ending], monkeypatch)
    assert shown_to(2) == []


def begin_with_another_store():
    epochs.begin(timeline_stores["bulk"])


def test_an_epoch_waits_for_a_post_in_flight(monkeypatch, settings):
    monkeypatch.setattr(epochs, "CLOSED_S", 0)

    assert waited_for_a_post(begin_with_another_store, monkeypatch)

    settings.FEED_TIMELINE_STORE = "bulk"
    epochs.forget()
    assert [shown_to(person) for person in (1, 2, 3)] == [["in flight"]] * 3
    assert audited(get_timeline_store()).ok


postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="it needs no such lock")


@postgresql
def test_without_the_lock_of_the_author_a_former_friend_sees_the_post(monkeypatch):
    unlocked = statements.INSERT_LOCKING_AUTHOR.removesuffix(" FOR SHARE")
    monkeypatch.setattr(statements, "INSERT_LOCKING_AUTHOR", unlocked)

    assert not waited_for_a_post(ENDINGS["unfriend"], monkeypatch)
    assert shown_to(2) == ["in flight"]


@postgresql
def test_without_the_lock_of_the_posts_an_epoch_loses_the_post(monkeypatch, settings):
    monkeypatch.setattr(epochs, "CLOSED_S", 0)
    monkeypatch.setattr(statements, "LOCK_POSTS", {})

    assert not waited_for_a_post(begin_with_another_store, monkeypatch)

    settings.FEED_TIMELINE_STORE = "bulk"
    epochs.forget()
    assert shown_to(2) == []

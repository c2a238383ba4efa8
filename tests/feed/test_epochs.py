"""A store that was lost, is older or newer than the database, or is another one."""

import time
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import timedelta
from subprocess import DEVNULL
from urllib.parse import urlsplit

import psutil
import pytest
from django.db.models.functions import Now
from django.utils import timezone
from redis import Redis
from redis.backoff import ConstantBackoff
from redis.retry import Retry

from accounts import limits
from accounts.follows import renew_versions
from accounts.models import Person
from feed import celebrities, epochs, readers
from feed.delivery import deliver, deliver_pending
from feed.due import due_ids, posts_due
from feed.follows import finish_changes, unfriend
from feed.models import Celebrity, Epoch, FollowChange, Post, Reader, TimelineFloor
from feed.selectors import read_timeline, store_state
from feed.timeline_stores import get_timeline_store
from feed.timeline_stores import ring as ring_store
from feed.timeline_stores.redis_servers import ServerReplaced
from launch import servers
from launch.servers.base import installed
from runtime.remembered import forget_all
from tests.conftest import client_of, end_friendship, redis_server, whole_timelines
from tests.feed.deliveries import ids, posts_by
from tests.parallel import in_a_thread
from workers import chunks

pytestmark = pytest.mark.usefixtures("undelayed")


@pytest.fixture
def ring(settings, friends, transactional_db, redis):
    settings.FEED_STRATEGY, settings.FEED_TIMELINE_STORE = "outbox", "ring"
    return whole_timelines()


def shown(owner_id):
    return list(read_timeline(owner_id=owner_id, before=None, limit=20).posts)


def test_an_emptied_redis_shows_the_same_feeds_and_takes_new_posts(ring, redis):
    old = posts_by(1, 3)
    deliver_pending(100)

    redis.flushdb()
    at_once = shown(2)
    new = posts_by(1, 2)
    deliver_pending(100)

    assert at_once == ids(reversed(old))
    assert shown(2) == shown(3) == ids(reversed(old + new))
    assert ring.members(2) == ids(reversed(old + new))


def test_an_older_copy_of_redis_is_not_read(
    settings, friends, transactional_db, keep_timelines_at, tmp_path
):
    """Redis is killed, and starts again with the copy that it had written before."""
    settings.FEED_STRATEGY, settings.FEED_TIMELINE_STORE = "outbox", "ring"
    with redis_server(tmp_path) as (process, environment):
        keep_timelines_at(environment["REDIS_URL"])
        ring = whole_timelines()
        old = posts_by(1, 3)
        deliver_pending(100)
        before = epochs.get_or_begin(ring).number
        ring.servers.client.save()
        unfriend(1, 2)
        new = posts_by(3, 2)
        deliver_pending(100)
        assert shown(2) == ids(reversed(new))

        port = urlsplit(environment["REDIS_URL"]).port
        command = [installed(servers.Redis), "--port", str(port), "--dir", process.cwd()]
        process.kill()
        process.wait()
        with psutil.Popen([*command, "--save", ""], stdout=DEVNULL) as again:
            await_answer(environment["REDIS_URL"])
            with pytest.raises(ServerReplaced):  # once
                ring.read(2)
            assert shown(2) == ids(reversed(new))
            assert "restarted or replaced" in store_state()
            deliver_pending(100)
            later = posts_by(3, 1)
            deliver_pending(100)

            assert store_state() == "ok"
            assert epochs.get_or_begin(ring).number != before
            assert shown(2) == ids(reversed(new + later))
            assert shown(1) == ids(reversed(old + new + later))
            again.terminate()


def await_answer(url):
    with Redis.from_url(url, retry=Retry(ConstantBackoff(0.05), 100)) as client:
        client.ping()


@pytest.mark.parametrize("reused", [3, 2])
def test_the_first_batch_after_a_restore_does_not_hide_it(ring, reused):
    """It would take the watermark's place, whoever delivers it."""
    posts = posts_by(1, 4)
    deliver_pending(100)
    Post.objects.filter(id__gte=posts[reused].id).delete()
    post = Post.objects.create(id=posts[reused].id, author_id=4, body="a stranger's")

    with pytest.raises(epochs.StoreUnusable, match="newer than the database"):
        deliver([post])
    forget_all()
    deliver_pending(100)

    assert posts[reused].id not in shown(2)
    assert shown(4) == [post.id]


@pytest.mark.parametrize("together", [True, False])
def test_posts_above_the_watermark_do_not_hide_a_restore(ring, together):
    """More were accepted before anybody looked than the database lost."""
    posts = posts_by(1, 4)
    deliver_pending(100)
    Post.objects.filter(id__gte=posts[2].id).delete()
    reused = Post.objects.create(id=posts[2].id, author_id=4, body="a stranger's")
    above = Post.objects.create(id=posts[3].id + 1, author_id=4, body="another")

    for batch in [[reused, above]] if together else [[reused], [above]]:
        with pytest.raises(epochs.StoreUnusable, match="newer than the database"):
            deliver(batch)

    assert ring.is_ahead_of_database()


def test_a_restore_is_noticed_though_the_restored_database_has_a_lease(ring):
    posts = posts_by(1, 2)
    deliver_pending(100)
    before = Epoch.objects.get().number
    Post.objects.filter(id=posts[1].id).delete()
    forget_all()

    with limits.lease("heal", for_s=60):
        deliver_pending(100)

    assert Epoch.objects.get().number != before


def test_the_watermark_stays_while_a_delivery_compares_it(ring, monkeypatch):
    """Or a drainer that looks for a restored database at this moment would find nothing."""
    posts = posts_by(1, 2)
    deliver_pending(100)
    Post.objects.filter(id=posts[1].id).delete()
    post = Post.objects.create(id=posts[1].id, author_id=4, body="a stranger's")
    is_unknown, is_ahead = ring_store._is_unknown, []

    def look_too(mark):
        with monkeypatch.context() as patch:
            patch.setattr(ring_store, "_is_unknown", is_unknown)
            is_ahead.append(ring.is_ahead_of_database())
        return is_unknown(mark)

    monkeypatch.setattr(ring_store, "_is_unknown", look_too)
    with pytest.raises(epochs.StoreUnusable):
        deliver([post])

    assert is_ahead == [True]


def test_a_database_behind_its_store_is_not_noticed_without_the_watermark(ring, monkeypatch):
    """The control."""
    posts = posts_by(1, 4)
    deliver_pending(100)
    monkeypatch.setattr(ring_store, "_is_unknown", lambda mark: False)
    Post.objects.filter(id=posts[3].id).delete()
    Post.objects.create(id=posts[3].id, author_id=4, body="a stranger's")

    deliver_pending(100)

    assert posts[3].id in shown(2)


@pytest.fixture
def promote(ring, redis, monkeypatch):
    """Call it to take a copy of Redis, and what it returns to let that copy take Redis' place.

    So do replicas that haven't heard of their primary for a while.
    """

    def take_a_copy():
        copy = {key: redis.dump(key) for key in redis.scan_iter("timeline:*")}
        return lambda: put_in_place(copy)

    def put_in_place(copy):
        redis.flushdb()
        for key, value in copy.items():
            redis.restore(key, 0, value)
        Epoch.objects.update(server="the primary before")
        now = ring.servers.identity()
        monkeypatch.setattr(ring.servers, "successor", lambda before: (now, 13.0))

    return take_a_copy


def end_a_friendship(ring):
    yield
    unfriend(1, 2)


def return_as_a_reader(ring):
    Epoch.objects.update(active_days=7)
    shown(2)
    Reader.objects.filter(person_id=2).update(read_on=timezone.now() - timedelta(days=30))
    readers._noted.clear()
    renew_versions(Person.objects.all())
    deliver(posts_by(1, 1))
    yield
    shown(2)


def be_no_celebrity_any_more(ring):
    Celebrity.objects.create(person_id=1, state=Celebrity.State.PULLED)
    celebrities.forget()
    renew_versions(Person.objects.all())
    deliver(posts_by(1, 1))
    yield
    Celebrity.objects.update(state=Celebrity.State.LEAVING)
    celebrities.continue_crossings(ring)
    assert not Celebrity.objects.exists()


@pytest.mark.parametrize("change", [end_a_friendship, return_as_a_reader, be_no_celebrity_any_more])
def test_a_change_that_a_promoted_replica_lacks_is_not_lost(ring, promote, change):
    posts_by(1, 2)
    deliver_pending(100)
    steps = change(ring)
    next(steps)
    Post.objects.update(delivered_at=Now() - timedelta(minutes=1))  # they are not in doubt

    put_in_place = promote()
    next(steps, None)
    put_in_place()
    deliver_pending(100)

    assert store_state() == "ok"
    for _ in range(2):
        assert shown(2) == due_ids(2, limit=20)


@pytest.mark.parametrize(("age_s", "goes_on"), [(None, True), (16, True), (14, False)])
def test_an_epoch_goes_on_after_a_promotion_if_no_change_is_in_doubt(ring, promote, age_s, goes_on):
    number = epochs.get_or_begin(ring).number
    before = promote()
    posts = posts_by(1, 2)
    deliver_pending(100)
    if age_s:
        Epoch.objects.update(changed_at=Now() - timedelta(seconds=age_s))
    before()
    deliver_pending(100)

    assert (epochs.get_or_begin(ring).number == number) is goes_on
    assert ring.members(2) == (ids(reversed(posts)) if goes_on else [])
    assert shown(2) == ids(reversed(posts))


def test_a_finished_chunk_that_a_promoted_replica_lacks_is_not_lost(ring, promote, monkeypatch):
    monkeypatch.setattr(chunks, "OWNERS_PER_CHUNK", 1)
    (post,) = posts_by(1, 1)
    first, *others = chunks.plan_chunks(post)

    put_in_place = promote()
    chunks.deliver_chunk(post.id, *first, ring.alias)
    put_in_place()
    epochs.renew_if_lost(ring)
    for other in others:
        chunks.deliver_chunk(post.id, *other, ring.alias)

    assert not Post.objects.pending().exists()
    assert [shown(owner) for owner in (1, 2, 3)] == [[post.id]] * 3


def test_a_process_notes_changes_at_most_once_a_second(ring):
    unfriend(1, 2)
    first = Epoch.objects.get().changed_at
    unfriend(1, 3)
    assert Epoch.objects.get().changed_at == first

    forget_all()
    unfriend(2, 3)
    assert Epoch.objects.get().changed_at > first


def test_nobody_uses_a_store_while_an_epoch_begins(ring):
    posts = posts_by(1, 2)
    deliver_pending(100)
    Epoch.objects.update(closed_at=Now())
    new = posts_by(1, 1)

    with pytest.raises(epochs.StoreUnusable):
        deliver_pending(100)

    assert shown(2) == ids(reversed(posts + new))
    assert client_of(1).get("/readyz").status_code == 503


def test_an_epoch_whose_beginner_died_is_begun_by_another(ring, monkeypatch):
    Epoch.objects.update(closed_at=Now())
    monkeypatch.setattr(epochs, "ABANDONED_S", 0)
    time.sleep(0.01)

    posts_by(1, 1)
    deliver_pending(100)

    assert store_state() == "ok"


def test_a_change_whose_process_died_after_the_commit_is_finished_by_a_drainer(ring, monkeypatch):
    posts = posts_by(1, 2)
    deliver_pending(100)
    end_friendship(1, 2)
    FollowChange.objects.create(author_id=1, reader_id=2)
    assert shown(2) == ids(reversed(posts))

    finish_changes()  # not yet: its process may live
    assert FollowChange.objects.exists()
    monkeypatch.setattr("feed.follows.LEFT_BEHIND_S", 0)
    time.sleep(0.01)
    deliver_pending(100)

    assert shown(2) == []
    assert not FollowChange.objects.exists()


@pytest.mark.parametrize("alias", ["setbased", "rowwise"])
def test_a_friendship_that_changes_during_a_rebuild_is_shown(
    alias, settings, friends, transactional_db, monkeypatch
):
    settings.FEED_STRATEGY, settings.FEED_TIMELINE_STORE = "outbox", alias
    whole_timelines()
    posts_by(1, 3)
    deliver_pending(100)
    epochs.begin(get_timeline_store())
    posts_by(1, 3)
    deliver_pending(100)
    TimelineFloor.objects.all().delete()

    def due_before(owner_id):
        found = posts_due(owner_id)
        ending.append(pool.submit(in_a_thread, unfriend, 1, 2))
        wait(ending, 0.5)
        return found

    ending = []
    monkeypatch.setattr("feed.timeline_stores.rows.posts_due", due_before)
    with ThreadPoolExecutor(1) as pool:
        get_timeline_store().rebuild(2)

    ending[0].result()
    assert shown(2) == []

"""Posts that cannot be delivered: they wait aside, and the rest of the backlog flows."""

import json
import logging
from contextlib import contextmanager, suppress
from io import StringIO
from types import SimpleNamespace

import pytest
from django.core.management import call_command
from django.db import DatabaseError, OperationalError, connection
from django.db.models.functions import Now
from redis import Redis
from redis.exceptions import RedisError, ResponseError

from feed import delivery, selectors
from feed.delivery import deliver_pending
from feed.models import Poison, Post
from feed.timeline_stores import get_timeline_store
from feed.timeline_stores.ring import Ring
from tests.conftest import client_of, redis_server, whole_timelines

LONER = 4
"""A person without friends, whose posts cannot be delivered."""


@pytest.fixture(scope="module")
def own_redis(tmp_path_factory):
    """A server that is not the broker too: a Celery worker ends if that refuses."""
    with redis_server(tmp_path_factory.mktemp("redis")) as (_, environment):
        yield environment["REDIS_URL"]


@pytest.fixture
def redis(own_redis, keep_timelines_at):
    keep_timelines_at(own_redis)
    with Redis.from_url(own_redis) as client:
        client.flushall()
        yield client


@pytest.fixture
def outbox(transactional_db, settings, friends, redis):
    settings.FEED_STRATEGY, settings.FEED_TIMELINE_STORE = "outbox", "ring"
    whole_timelines()


@pytest.fixture
def faulty(outbox, monkeypatch):
    """Let deliveries of the loner's posts fail; returns a dict whose ``cause`` may be taken out."""
    fault, write = {"cause": ResponseError("WRONGTYPE")}, Ring.write

    def fail(store, deliveries):
        if fault["cause"] and any(LONER in owners for _, owners in deliveries):
            raise fault["cause"]
        return write(store, deliveries)

    monkeypatch.setattr(Ring, "write", fail)
    return fault


@pytest.fixture
def poison(faulty):
    """Return a function that writes a post that cannot be delivered, and returns its id."""
    return lambda: Post.objects.create(author_id=LONER, body="poison").id


@pytest.fixture
def bad(backlog):
    """The id of the post in the middle of the backlog that cannot be delivered."""
    return Post.objects.get(author_id=LONER).id


@pytest.fixture
def backlog(poison):
    """Ids of nine posts that can be delivered, around one that cannot."""
    before = [Post.objects.create(author_id=1, body="text").id for _ in range(5)]
    poison()
    return {*before, *(Post.objects.create(author_id=3, body="text").id for _ in range(4))}


def delivered():
    return set(Post.objects.exclude(delivered_at=None).values_list("id", flat=True))


def due_now():
    Poison.objects.update(retry_at=Now())
    delivery._pause_after_retry.forget()


def drain():
    """Let a drainer that survives errors go through the whole backlog."""
    for _ in range(20):
        with suppress(OperationalError):
            deliver_pending(100)


def test_the_rest_of_its_batch_is_delivered(backlog, bad, poison):
    more = [poison() for _ in range(3)]

    assert deliver_pending(100) == 13

    assert delivered() == backlog
    assert set(get_timeline_store().members(2)) == backlog
    assert selectors.poison() == (4, [bad, *more])


def test_without_halving_the_whole_backlog_waits_for_it(backlog, monkeypatch):
    """The control."""
    monkeypatch.setattr(delivery, "_deliver_halves", lambda post_ids: None)

    for _ in range(3):
        deliver_pending(100)

    assert delivered() == set()


TOO_LARGE = OperationalError(1153, "Got a packet bigger than 'max_allowed_packet' bytes")


def test_a_post_that_fails_like_a_server_is_set_aside_too(backlog, bad, faulty):
    faulty["cause"] = TOO_LARGE

    drain()

    assert delivered() == backlog
    assert selectors.poison() == (1, [bad])


def test_without_a_look_whether_others_succeed_the_backlog_waits_for_it(
    backlog, bad, faulty, monkeypatch
):
    """The control."""
    monkeypatch.setattr(delivery, "_takes_deliveries", lambda post: False)
    faulty["cause"] = TOO_LARGE

    drain()

    assert delivered() == {post_id for post_id in backlog if post_id < bad}


def test_the_first_post_ever_is_set_aside_if_its_author_alone_can_be_delivered_to(
    outbox, monkeypatch
):
    write = Ring.write

    def fail(store, deliveries):
        if any(len(owners) > 1 for _, owners in deliveries):
            raise TOO_LARGE
        return write(store, deliveries)

    monkeypatch.setattr(Ring, "write", fail)
    first = Post.objects.create(author_id=1, body="to two friends").id
    second = Post.objects.create(author_id=LONER, body="to nobody else").id

    drain()

    assert delivered() == {second}
    assert selectors.poison() == (1, [first])


def test_one_that_fails_slowly_is_not_tried_all_the_time(backlog, bad, monkeypatch):
    deliver_pending(100)
    due_now()
    clock, deliver_some = [100.0], delivery._deliver_some

    def slowly(*arguments):
        clock.append(clock[-1] + 10)
        return deliver_some(*arguments)

    monkeypatch.setattr(delivery, "_deliver_some", slowly)
    monkeypatch.setattr(delivery, "time", SimpleNamespace(monotonic=lambda: clock[-1]))
    monkeypatch.setattr("runtime.remembered.monotonic", lambda: clock[-1])

    assert delivery._try_again() == 1
    Poison.objects.update(retry_at=Now())
    clock.append(150.0)
    assert delivery._try_again() == 0
    clock.append(210.0)
    assert delivery._try_again() == 1


def test_it_waits_each_time_longer_before_it_is_tried_again_and_is_logged_once(bad, caplog):
    deliver_pending(100)
    assert deliver_pending(100) == 0

    pauses = []
    for _ in range(12):
        due_now()
        assert deliver_pending(100) == 1
        waiting = Poison.objects.annotate(now=Now()).get()
        pauses.append(round((waiting.retry_at - waiting.now).total_seconds()))

    assert pauses == [2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600, 600]
    assert Poison.objects.get().failures == 13
    (logged,) = [line.getMessage() for line in caplog.records if line.levelno == logging.ERROR]
    assert logged.startswith(f"post {bad} cannot be delivered and is set aside: ")
    assert "WRONGTYPE" in logged


def test_it_is_delivered_when_its_cause_is_gone_and_nothing_is_left(
    backlog, bad, faulty, undelayed
):
    """Or each claim would go on looking for posts that are set aside."""
    deliver_pending(100)
    faulty["cause"] = None
    due_now()

    deliver_pending(100)

    assert delivered() == {*backlog, bad}
    assert get_timeline_store().members(LONER) == [bad]
    assert selectors.poison() == (0, [])
    Post.objects.create(author_id=1, body="the next one")
    deliver_pending(100)
    assert not Poison.objects.exists()


@pytest.mark.parametrize(
    ("setting", "refusing"), [("maxmemory", "1"), ("min-replicas-to-write", "1")]
)
def test_a_server_that_refuses_every_write_is_no_posts_fault(setting, refusing, backlog, redis):
    redis.config_set(setting, refusing)
    with pytest.raises(RedisError):
        deliver_pending(100)
    redis.config_set(setting, "0")

    assert not Poison.objects.exists()
    assert deliver_pending(100) == 10
    assert delivered() == backlog


def test_a_server_that_is_away_is_no_posts_fault(backlog, keep_timelines_at):
    keep_timelines_at("redis://127.0.0.1:1/0")

    with pytest.raises(RedisError):
        deliver_pending(100)

    assert not Poison.objects.exists()


@contextmanager
def renamed(table):
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} RENAME TO elsewhere")
        try:
            yield
        finally:
            cursor.execute(f"ALTER TABLE elsewhere RENAME TO {table}")


def test_a_missing_table_is_no_posts_fault(backlog, settings):
    settings.FEED_TIMELINE_STORE = "setbased"
    whole_timelines()
    with renamed("feed_timeline_setbased"):
        for _ in range(5):
            with suppress(DatabaseError):
                deliver_pending(100)

    assert not Poison.objects.exists()
    assert delivered() == set()
    drain()
    assert delivered() == set(Post.objects.values_list("id", flat=True))


def test_it_is_shown_with_its_error_and_tried_when_asked(bad):
    deliver_pending(100)

    assert client_of(None).get("/statusz").json()["poison"] == {
        "posts": 1,
        "oldest_ids": [bad],
    }
    out = StringIO()
    call_command("list_poison", "--retry", stdout=out)
    found = json.loads(out.getvalue())
    assert (found["post"], found["author"], found["failures"]) == (bad, LONER, 1)
    assert "WRONGTYPE" in found["error"]
    assert deliver_pending(100) == 1
    assert Poison.objects.get().failures == 2

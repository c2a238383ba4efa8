"""The contract of healing stores with a capacity: those on Redis, and ``packed``."""

import random

import numpy as np
import pytest
from django.db import connection

from feed.due import newest_post_id
from feed.models import Post
from feed.timeline import read_page
from feed.timeline_stores import timeline_stores
from feed.timeline_stores.base import ALL
from feed.timeline_stores.rule import Timeline
from tests.backends import here
from tests.conftest import begin_with, make_people, whole_timelines
from tests.feed.deliveries import audited, ids, into, opened, posts_by
from tests.parallel import in_parallel

PACKING = here(["ring", "log", "packed"])
CAPACITY = 8
BEGIN_AGAIN = {
    "mysql": "ALTER TABLE feed_post AUTO_INCREMENT = 1",
    "sqlite": "DELETE FROM sqlite_sequence WHERE name = 'feed_post'",
    "postgresql": "SELECT 1",  # ids that are given don't move its sequences
}


@pytest.fixture(params=PACKING)
def small(request, settings, keep_few, friends):
    """A store that keeps eight posts per timeline."""
    keep_few(CAPACITY, log_records=0)
    settings.FEED_TIMELINE_STORE = request.param
    return whole_timelines()


@pytest.fixture(params=PACKING)
def packing(request, redis, db):
    """A store that packs ids into bytes."""
    return timeline_stores[request.param]


def test_the_newest_are_kept_and_the_audit_agrees(small):
    posts = posts_by(1, 30)
    for start in range(0, 30, 5):
        small.deliver(posts[start : start + 5])

    assert read_page(small, 2, limit=CAPACITY).ids == ids(reversed(posts[-CAPACITY:]))
    assert len(small.members(2)) <= CAPACITY * 5 / 3
    assert audited(small).ok
    assert audited(small).expected == 3 * CAPACITY


def test_a_batch_of_several_portions_is_delivered_whole(small, monkeypatch):
    monkeypatch.setattr("feed.timeline_stores.ring.PORTION", 2)
    monkeypatch.setattr("feed.timeline_stores.locked.PORTION", 2)
    posts = posts_by(1, 5)

    small.deliver(posts)

    assert [sorted(small.members(owner)) for owner in (1, 2, 3)] == [ids(posts)] * 3


@pytest.mark.parametrize("small", ["packed"], indirect=True)
def test_packed_rows_are_written_in_statements_that_a_server_takes(small, monkeypatch):
    most, lengths = 200, []
    monkeypatch.setattr("feed.timeline_stores.packed.STATEMENT_BYTES", most)
    posts = posts_by(1, CAPACITY)

    with connection.execute_wrapper(lambda execute, sql, *rest: note(lengths, execute, sql, *rest)):
        small.deliver(posts[::2])  # appended
        small.deliver(posts[1::2])  # late, so the rows are replaced

    assert max(lengths) < most + 200  # the rest of the statement
    assert [sorted(small.members(owner)) for owner in (1, 2, 3)] == [ids(posts)] * 3


def note(lengths, execute, sql, *rest):
    if sql.startswith("INSERT INTO feed_timeline_packed"):
        lengths.append(len(sql))
    return execute(sql, *rest)


@pytest.mark.parametrize("alias", PACKING)
@pytest.mark.parametrize("capacity", [CAPACITY, 400])
@pytest.mark.parametrize("seed", range(5))
def test_whatever_happens_a_store_holds_what_a_timeline_in_python_does(
    alias, capacity, seed, keep_few, db
):
    chance = random.Random(seed)
    keep_few(capacity, log_records=0)  # it compacts
    owners = (7, 71, 135)  # of one shard
    store = opened(timeline_stores[alias], *owners)
    expected = {}
    for owner in owners:
        expected[owner] = Timeline()
        expected[owner].activate(expected[owner].version, 0)
    for _ in range(80):
        happen(chance, store, expected, capacity)

        for owner, timeline in expected.items():
            held = store.read(owner, limit=ALL)
            assert (held.ids, held.floor) == (timeline.ids[::-1], timeline.floor)
            below = chance.randrange(1, 3 * capacity)
            older = [post_id for post_id in timeline.ids if post_id < below][::-1][:5]
            assert store.read(owner, before=below, limit=5).ids == older


def happen(chance, store, expected, capacity):
    """Let the same happen to timelines of the store and to those in Python."""
    owners = chance.sample(sorted(expected), chance.randint(1, 3))
    oldest = chance.randrange(1, 3 * capacity)
    reach = range(oldest, oldest + chance.choice([1, 5, 50, 2 * capacity]))
    batch = sorted(chance.sample(reach, chance.randint(1, len(reach))))
    what = chance.choice(["deliver"] * 6 + ["change", "load"])
    if what == "deliver":
        store.write([(post_id, np.array(owners)) for post_id in batch])
        for owner in owners:
            expected[owner].deliver(batch, capacity)
    elif what == "change":
        store.change(owners, through=oldest)
        for owner in owners:
            expected[owner].change(oldest)
    else:
        owner = owners[0]
        through = expected[owner].floor
        ids = [post_id for post_id in batch if post_id <= through]
        floor = ids[0] - 1 if ids else through
        version = store.read(owner, limit=ALL).version
        store.load(owner, version, through=through, floor=floor, ids=ids)
        expected[owner].load(expected[owner].version, through, floor, ids)


@pytest.mark.parametrize("owner", [2**40 + 3, 2**63 - 1])
def test_ids_beyond_32_bits_are_kept_exactly(packing, owner):
    if packing.alias == "log":
        owner %= 2**46  # its records have no room for more
    huge = [2**47 - 4, 2**47 - 2, 2**47 - 3]
    opened(packing, owner)

    packing.write(into(owner, huge))

    assert read_page(packing, owner).ids == sorted(huge, reverse=True)


def test_a_too_large_id_is_refused_and_nothing_is_written(packing):
    opened(packing, 7)

    with pytest.raises(OverflowError):
        packing.write(into(7, [5, 2**47 - 1]))

    assert packing.members(7) == []


@pytest.mark.parametrize("alias", PACKING)
def test_two_concurrent_deliveries_of_a_batch_deliver_once(alias, redis, transactional_db):
    make_people(200, [(1, n) for n in range(2, 201)])
    store = opened(timeline_stores[alias], *range(1, 201))
    posts = posts_by(1, 50)

    assert in_parallel(2 * [lambda: store.deliver(posts)]) == [None, None]

    assert all(sorted(store.members(owner)) == ids(posts) for owner in range(1, 201))


@pytest.fixture
def low_ids(transactional_db):
    """Let posts after the test have ids as before."""
    yield
    Post.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute(BEGIN_AGAIN[connection.vendor])


@pytest.mark.parametrize("alias", PACKING)
def test_a_post_with_a_too_large_id_is_read_from_the_database(alias, redis, low_ids):
    make_people(3, [(1, 2), (1, 3)])
    store = begin_with(timeline_stores[alias])
    posts = [Post.objects.create(author_id=1, body="text") for _ in range(2)]
    store.deliver(posts)
    before = read_page(store, 2).ids
    huge = Post.objects.create(id=2**47 + 5, author_id=1, body="text")
    store.change([3], through=newest_post_id())
    store.clear()

    assert before == [posts[1].id, posts[0].id]
    assert [read_page(store, owner).ids for owner in (1, 2, 3)] == [[huge.id, *before]] * 3
    assert [read_page(store, owner).ids for owner in (1, 2, 3)] == [[huge.id, *before]] * 3

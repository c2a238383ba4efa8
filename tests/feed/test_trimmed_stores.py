"""The contract of stores with a capacity: those on Redis, and ``packed``."""

import random
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from django.db import connection

from feed.timeline_stores import get_timeline_store, timeline_stores
from tests.backends import REDIS_STORES
from tests.conftest import make_people
from tests.feed.deliveries import audited, ids, into, posts_by

PACKING = ["script", "ring", "packed"]
CAPACITY = 8


@pytest.fixture
def keep(settings, redis_url, redis, keep_timelines_at):
    """Set the capacity of the stores."""

    def keep(capacity):
        keep_timelines_at(redis_url, capacity=capacity)
        packed = settings.FEED_TIMELINE_STORES["packed"] | {"OPTIONS": {"capacity": capacity}}
        settings.FEED_TIMELINE_STORES = settings.FEED_TIMELINE_STORES | {"packed": packed}

    return keep


@pytest.fixture(params=[*REDIS_STORES, "packed"])
def small(request, settings, keep, friends):
    """A store that keeps eight posts per timeline."""
    keep(CAPACITY)
    settings.FEED_TIMELINE_STORE = request.param
    return get_timeline_store()


@pytest.fixture(params=PACKING)
def packing(request, redis, db):
    """A store that packs ids into bytes."""
    return timeline_stores[request.param]


def test_the_newest_are_kept_and_the_audit_agrees(small):
    posts = posts_by(1, 30)
    for start in range(0, 30, 5):
        small.deliver(posts[start : start + 5])

    assert small.page(2, limit=20) == ids(reversed(posts[-CAPACITY:]))
    assert len(small.members(2)) <= CAPACITY * 5 / 3
    assert audited(small).ok
    assert audited(small).expected == 3 * CAPACITY


def test_a_batch_larger_than_the_capacity_leaves_the_newest(small):
    posts = posts_by(1, 30)

    small.deliver(posts)

    assert sorted(small.members(2)) == ids(posts[-CAPACITY:])


def test_late_old_posts_replace_no_newer_ones(small):
    posts = posts_by(1, 40)
    small.deliver(posts[30:])

    for post in posts[:30]:
        small.deliver([post])

    assert small.page(2) == ids(reversed(posts[-CAPACITY:]))
    assert audited(small).ok


def test_pages_end_at_the_capacity(small):
    posts = posts_by(1, CAPACITY + 2)
    for post in posts:
        small.deliver([post])
    oldest_kept = posts[-CAPACITY].id

    assert small.page(2, before=oldest_kept + 1) == [oldest_kept]
    assert small.page(2, before=oldest_kept) == []


def test_a_batch_that_overlaps_an_earlier_one_is_delivered_once(small):
    posts = posts_by(1, 7)
    small.deliver(posts[2:5])

    small.deliver(posts)

    assert sorted(small.members(2)) == ids(posts)
    assert audited(small).ok


def test_a_redelivered_trimmed_post_changes_no_page(small):
    posts = posts_by(1, 3 * CAPACITY)
    small.deliver(posts)
    before = small.page(2)

    small.deliver(posts[:4])

    assert small.page(2) == before
    assert audited(small).ok


def test_a_batch_of_several_portions_is_delivered_whole(small, monkeypatch):
    monkeypatch.setattr("feed.timeline_stores.pipeline.PORTION", 2)
    monkeypatch.setattr("feed.timeline_stores.scripted.PORTION", 2)
    monkeypatch.setattr("feed.timeline_stores.packed.PORTION", 2)
    posts = posts_by(1, 5)

    small.deliver(posts)

    assert [sorted(small.members(owner)) for owner in (1, 2, 3)] == [ids(posts)] * 3


@pytest.mark.parametrize("alias", PACKING)
@pytest.mark.parametrize("capacity", [CAPACITY, 400])
@pytest.mark.parametrize("seed", range(5))
def test_any_order_of_delivery_leaves_the_newest_of_all(alias, capacity, seed, keep, db):
    chance = random.Random(seed)
    keep(capacity)
    timeline = timeline_stores[alias]
    seen = {owner: set() for owner in (7, 71, 135)}  # of one shard
    for _ in range(60):
        oldest = chance.randrange(1, 3 * capacity)
        reach = range(oldest, oldest + chance.choice([5, 50, 2 * capacity]))
        batch = chance.sample(reach, chance.randint(1, len(reach)))
        owners = chance.sample(sorted(seen), chance.randint(1, 3))
        timeline.write([(post_id, np.array(owners)) for post_id in batch])
        for owner in owners:
            seen[owner] |= set(batch)

        for owner in seen:
            held = timeline.members(owner)
            newest = sorted(seen[owner], reverse=True)[:capacity]
            assert held == sorted(set(held))
            assert len(held) <= capacity * 5 / 3
            assert timeline.page(owner, limit=1000) == newest
            older = [n for n in newest if n < oldest][:5]
            assert timeline.page(owner, before=oldest, limit=5) == older


@pytest.mark.parametrize("owner", [2**40 + 3, 2**63 - 1])
def test_ids_beyond_32_bits_are_kept_exactly(packing, owner):
    huge = [2**48 - 3, 2**48 - 1, 2**48 - 2]

    packing.write(into(owner, huge))

    assert packing.page(owner) == sorted(huge, reverse=True)


def test_a_too_large_id_is_refused_and_nothing_is_written(packing):
    with pytest.raises(OverflowError):
        packing.write(into(7, [5, 2**48]))

    assert packing.members(7) == []


@pytest.mark.parametrize("alias", PACKING)
def test_two_concurrent_deliveries_of_a_batch_deliver_once(alias, redis, transactional_db):
    make_people(200, [(1, n) for n in range(2, 201)])
    posts = posts_by(1, 50)
    store, together = timeline_stores[alias], Barrier(2)

    def deliver():
        together.wait()
        store.deliver(posts)
        connection.close()

    with ThreadPoolExecutor(2) as pool:
        for attempt in [pool.submit(deliver) for _ in range(2)]:
            attempt.result()

    assert all(sorted(store.members(owner)) == ids(posts) for owner in range(1, 201))

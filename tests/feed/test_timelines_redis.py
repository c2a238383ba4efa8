"""What only the timelines in Redis have: keys, a capacity, and failures between two processes."""

import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from django.db import connection
from redis.exceptions import ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from accounts.models import Friendship, Person
from feed.audit import audit
from feed.models import Post
from feed.timelines import get_timeline, timelines
from feed.timelines.ring import Ring
from feed.timelines.script import Script
from feed.timelines.shards import by_shard
from tests.conftest import REDIS_STORES, make_people, redis_server

SCRIPTED = ["script", "ring"]
CAPACITY = 8


@pytest.fixture(params=REDIS_STORES)
def small(request, settings, redis_url, redis, keep_timelines_at, friends):
    """A store that keeps eight posts a timeline."""
    keep_timelines_at(redis_url, capacity=CAPACITY)
    settings.FEED_TIMELINE = request.param
    return get_timeline()


@pytest.fixture(params=SCRIPTED)
def scripted(request, redis, friends):
    return timelines[request.param]


@pytest.fixture
def ring(redis_url, redis):
    return Ring("ring", url=redis_url)


def posts_by(author_id, count):
    return [Post.objects.create(author_id=author_id, body="text") for _ in range(count)]


def ids(posts):
    return [post.id for post in posts]


def into(owner_id, post_ids):
    return [(post_id, np.array([owner_id])) for post_id in post_ids]


def audited(store):
    *_, (_, result) = audit(store)
    return result


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


def test_old_posts_that_come_late_push_out_nothing_newer(small):
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


def test_a_post_trimmed_away_and_delivered_again_changes_no_page(small):
    posts = posts_by(1, 3 * CAPACITY)
    small.deliver(posts)
    before = small.page(2)

    small.deliver(posts[:4])

    assert small.page(2) == before
    assert audited(small).ok


def test_a_batch_cut_off_between_two_shards_is_completed_by_the_next_attempt(scripted):
    make_friends_in_all_shards()
    posts = posts_by(4, 20)
    everyone = np.arange(4, 204)
    shards = by_shard([(post.id, everyone) for post in posts])
    scripted.write_shards(shards[: len(shards) // 2])  # … and the connection drops

    scripted.deliver(posts)

    assert all(sorted(scripted.members(owner)) == ids(posts) for owner in everyone.tolist())
    assert audited(scripted).ok


def make_friends_in_all_shards():
    """Persons 5 … 203, friends of person 4."""
    Person.objects.bulk_create(Person(id=n, username=f"person{n}") for n in range(5, 204))
    pairs = [(4, n) for n in range(5, 204)]
    Friendship.objects.bulk_create(
        Friendship(person_id=a, friend_id=b) for pair in pairs for a, b in (pair, pair[::-1])
    )


@pytest.mark.parametrize("store", [Script, Ring])
@pytest.mark.parametrize("capacity", [CAPACITY, 400])
@pytest.mark.parametrize("seed", range(5))
def test_any_order_of_delivery_leaves_the_newest_of_all(store, capacity, seed, redis_url, redis):
    chance = random.Random(seed)
    timeline = store("any", url=redis_url, capacity=capacity)
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


def test_keys_carry_the_alias_and_keep_a_shard_in_one_slot(small, redis):
    small.deliver(posts_by(1, 1))

    expected = {f"timeline:{small.alias}:{{{owner}}}:{owner}".encode() for owner in (1, 2, 3)}
    assert {key for key in redis.scan_iter() if not key.endswith(b":newest")} == expected
    assert small.key(64 * 3 + 2) == f"timeline:{small.alias}:{{2}}:194"


def test_a_ring_that_lost_its_shard_s_newest_looks_at_its_own(ring, redis):
    ring.write(into(7, [5, 9]))
    redis.delete(f"{ring.shard_prefix(7)}newest")

    ring.write(into(7, [5, 7]))

    assert ring.members(7) == [5, 7, 9]


def test_a_batch_that_ran_out_of_memory_halfway_is_completed_by_the_next_attempt(tmp_path):
    everyone = np.arange(1, 3001)
    with redis_server(tmp_path) as (_, environment):
        ring = Ring("ring", url=environment["REDIS_URL"])
        ring.write([(1, everyone)])
        used = ring.client.info("memory")["used_memory"]
        ring.client.config_set("maxmemory", used + 2_000_000)
        with pytest.raises(ResponseError, match="maxmemory"):
            ring.write([(post_id, everyone) for post_id in range(1, 101)])
        lengths = {len(ring.members(owner)) for owner in everyone.tolist()}
        ring.client.config_set("maxmemory", 0)

        ring.write([(post_id, everyone) for post_id in range(1, 101)])

        assert lengths == {1, 100}
        whole = list(range(1, 101))
        assert all(ring.members(owner) == whole for owner in everyone.tolist())


@pytest.mark.parametrize("batch", [1, 90, 500])
def test_a_full_ring_costs_at_most_12_bytes_an_entry(batch, ring, redis):
    for start in range(1, 4001, batch):
        ring.write(into(7, range(start, start + batch)))
        entries = redis.strlen(ring.key(7)) // 6
        if entries >= 800:
            assert redis.memory_usage(ring.key(7), samples=0) <= 12 * entries


@pytest.mark.parametrize("owner", [2**40 + 3, 2**63 - 1])
def test_ids_beyond_32_bits_are_kept_exactly(scripted, owner):
    huge = [2**48 - 3, 2**48 - 1, 2**48 - 2]

    scripted.write(into(owner, huge))

    assert scripted.page(owner) == sorted(huge, reverse=True)


def test_an_id_that_is_too_large_is_refused_and_nothing_written(scripted):
    with pytest.raises(OverflowError):
        scripted.write(into(7, [5, 2**48]))

    assert scripted.members(7) == []


def test_ids_that_look_like_text_or_end_in_zeros_are_kept(ring):
    look_alikes = [int.from_bytes(b"12345", "little"), 256, 65536, 2**40]
    for post_id in look_alikes:
        ring.write(into(7, [post_id]))

    assert ring.members(7) == sorted(look_alikes)


def test_a_server_that_forgot_its_scripts_is_told_again(scripted, redis):
    posts = posts_by(1, 2)
    scripted.deliver(posts[:1])

    redis.script_flush()
    scripted.deliver(posts[1:])

    assert sorted(scripted.members(2)) == ids(posts)


def test_a_batch_of_many_round_trips_is_delivered_whole(small, monkeypatch):
    monkeypatch.setattr("feed.timelines.pipeline.PORTION", 2)
    monkeypatch.setattr("feed.timelines.scripted.PORTION", 2)
    posts = posts_by(1, 5)

    small.deliver(posts)

    assert [sorted(small.members(owner)) for owner in (1, 2, 3)] == [ids(posts)] * 3


@pytest.mark.parametrize("alias", SCRIPTED)
def test_two_that_deliver_the_same_batch_at_once_deliver_once(alias, redis, transactional_db):
    make_people(200, [(1, n) for n in range(2, 201)])
    posts = posts_by(1, 50)
    store, together = timelines[alias], Barrier(2)

    def deliver():
        together.wait()
        store.deliver(posts)
        connection.close()

    with ThreadPoolExecutor(2) as pool:
        for attempt in [pool.submit(deliver) for _ in range(2)]:
            attempt.result()

    assert all(sorted(store.members(owner)) == ids(posts) for owner in range(1, 201))


@pytest.mark.parametrize("alias", REDIS_STORES)
def test_a_frozen_server_fails_a_delivery_within_seconds(
    alias, keep_timelines_at, friends, tmp_path
):
    with redis_server(tmp_path) as (process, environment):
        keep_timelines_at(environment["REDIS_URL"])
        posts = posts_by(1, 2)
        timelines[alias].deliver(posts[:1])

        process.send_signal(signal.SIGSTOP)
        started = time.monotonic()
        with pytest.raises(RedisTimeoutError):
            timelines[alias].deliver(posts)
        assert time.monotonic() - started < 6

        process.send_signal(signal.SIGCONT)
        timelines[alias].deliver(posts)
        assert sorted(timelines[alias].members(2)) == ids(posts)

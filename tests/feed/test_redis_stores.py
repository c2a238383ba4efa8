"""Tests of the Redis stores only: keys, and failures between two processes."""

import signal
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from redis.exceptions import ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from config.cache import post_cache
from feed import epochs
from feed.timeline_stores import timeline_stores
from feed.timeline_stores.packing import HEADER_WORDS
from feed.timeline_stores.redis_servers import connect
from feed.timeline_stores.ring import Ring
from runtime.away import AWAY_S
from runtime.redis_options import TIMEOUT_S
from tests.backends import REDIS_STORES
from tests.conftest import client_of, redis_server, whole_timelines
from tests.feed.deliveries import into, opened, posts_by


@pytest.fixture
def ring(redis_url, redis, db):
    """A ring with one empty timeline."""
    return opened(Ring("ring", url=redis_url), 7)


@pytest.mark.parametrize("alias", sorted({*REDIS_STORES} - {"log"}))
def test_keys_carry_the_alias_and_keep_a_shard_in_one_slot(alias, redis, friends):
    store = timeline_stores[alias]

    store.deliver(posts_by(1, 1))

    prefix = f"timeline:{alias}:{epochs.get_or_begin(store).number:x}:"
    expected = {f"{prefix}{{{owner}}}:{owner}".encode() for owner in (1, 2, 3)}
    found = {key for key in redis.scan_iter() if not key.endswith((b":newest", b":watermark"))}
    assert found == expected
    assert store.keys.of(64 * 3 + 2) == f"{prefix}{{2}}:194"


def test_a_ring_without_its_shards_newest_id_reads_its_own(ring, redis):
    ring.write(into(7, [5, 9]))
    redis.delete(f"{ring.keys.of_shard(7)}newest")

    ring.write(into(7, [5, 7]))

    assert ring.members(7) == [9, 7, 5]


@pytest.mark.parametrize("alias", ["ring", "log"])
def test_a_batch_that_ran_out_of_memory_halfway_is_completed_by_the_next_attempt(
    alias, keep_timelines_at, tmp_path, db
):
    everyone = np.arange(1, 3001)
    with redis_server(tmp_path) as (_, environment):
        keep_timelines_at(environment["REDIS_URL"])
        store = opened(timeline_stores[alias], *everyone.tolist())
        store.write([(1, everyone)])
        used = store.servers.client.info("memory")["used_memory"]
        store.servers.client.config_set("maxmemory", used + 2_000_000)
        with pytest.raises(ResponseError, match="maxmemory"):
            store.write([(post_id, everyone) for post_id in range(1, 101)])
        lengths = {len(store.members(owner)) for owner in everyone.tolist()}
        store.servers.client.config_set("maxmemory", 0)

        store.write([(post_id, everyone) for post_id in range(1, 101)])

        assert lengths == {1, 100}
        whole = list(range(100, 0, -1))
        assert all(store.members(owner) == whole for owner in everyone.tolist())


@pytest.mark.parametrize("batch", [1, 90, 500])
def test_a_full_ring_costs_at_most_12_bytes_an_entry(batch, ring, redis):
    for start in range(1, 4001, batch):
        ring.write(into(7, range(start, start + batch)))
        entries = redis.strlen(ring.keys.of(7)) // 6 - HEADER_WORDS
        if entries >= 800:
            assert redis.memory_usage(ring.keys.of(7), samples=0) <= 12 * entries


def test_ids_that_look_like_text_or_end_in_zeros_are_kept(ring):
    look_alikes = [int.from_bytes(b"12345", "little"), 256, 65536, 2**40]
    for post_id in look_alikes:
        ring.write(into(7, [post_id]))

    assert ring.members(7) == sorted(look_alikes, reverse=True)


@pytest.mark.parametrize("alias", REDIS_STORES)
def test_feeds_are_read_from_a_server_that_has_forgotten_the_scripts(
    alias, settings, redis, redis_environment, friends
):
    settings.FEED_TIMELINE_STORE = alias
    settings.CACHES = settings.CACHES | {"posts": post_cache(redis_environment["REDIS_URL"])}
    whole_timelines()
    posts = posts_by(1, 3)
    timeline_stores[alias].deliver(posts[:2])  # and the database knows of one more

    redis.script_flush()
    answer = client_of(2).get("/v1/feed/")

    assert answer.status_code == 200
    assert [post["id"] for post in answer.json()["posts"]] == [posts[1].id, posts[0].id]


def test_one_thread_at_a_time_waits_for_a_frozen_server(tmp_path):
    """The kernel of a frozen server still takes connections."""
    with redis_server(tmp_path) as (process, environment), ThreadPoolExecutor(4) as threads:
        url, all_of_them = environment["REDIS_URL"], Barrier(4)

        def connected(_):
            all_of_them.wait()
            return connect(url).ping()

        def waited_s(after_s):
            all_of_them.wait()
            time.sleep(after_s)
            started = time.monotonic()
            with pytest.raises(RedisTimeoutError):
                connect(url).get("key")
            return time.monotonic() - started

        assert all(threads.map(connected, range(4)))
        process.send_signal(signal.SIGSTOP)
        assert min(threads.map(waited_s, (0, 0, 0, 0))) > TIMEOUT_S - 0.1
        waited = sorted(threads.map(waited_s, (AWAY_S + later_s for later_s in (0, 0.3, 0.6, 0.9))))

    assert waited[-1] > TIMEOUT_S - 0.1
    assert waited[-2] < 0.5

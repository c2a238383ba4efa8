"""The store ``log`` only: its logs, and their compaction."""

import numpy as np
import pytest

from feed.timeline_stores.log import Log, shards_for
from feed.timeline_stores.shards import RECORD_BYTES
from tests.feed.deliveries import into, opened

OWNER = 7


@pytest.fixture
def store(redis_url, redis, db):
    """A store with one empty timeline, whose logs are compacted from the fourth record on."""
    return opened(Log("log", url=redis_url, log_records=3), OWNER)


def log_of(store, redis):
    return f"{store.keys.of_shard(OWNER % store.keys.shards)}log"


def records_read(store, redis):
    """Return what a compaction reads now."""
    return store.records_in({OWNER % store.keys.shards: redis.get(log_of(store, redis))})


def records_in(store, redis):
    return redis.strlen(log_of(store, redis)) // RECORD_BYTES - 1


def ids_in_the_ring(store, redis):
    return redis.strlen(store.key(OWNER)) // 6 - 3


def test_deliveries_are_in_the_log_until_it_is_long(store, redis):
    store.write(into(OWNER, [1, 2, 3]))
    assert (records_in(store, redis), ids_in_the_ring(store, redis)) == (3, 0)
    assert store.members(OWNER) == [3, 2, 1]

    store.write(into(OWNER, [4]))

    assert (records_in(store, redis), ids_in_the_ring(store, redis)) == (0, 4)
    assert store.members(OWNER) == [4, 3, 2, 1]


def test_late_and_repeated_records_are_in_the_timeline_once(store):
    for batch in ([5, 9], [9, 2], [7], [1, 5]):
        store.write(into(OWNER, batch))

    assert store.members(OWNER) == [9, 7, 5, 2, 1]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda redis, log: redis.delete(log),
        lambda redis, log: redis.set(log, "not a log"),
        lambda redis, log: redis.set(log, b"\xff" * 7),
        lambda redis, log: redis.delete(log) and redis.sadd(log, "not a log"),
    ],
)
def test_without_its_log_a_ring_is_absent_and_the_next_one_is_read(spoil, store, redis):
    store.write(into(OWNER, [1, 2]))
    spoil(redis, log_of(store, redis))

    store.write(into(OWNER, [3]))
    assert store.read(OWNER).floor is None

    store.activate(store.create([OWNER]), through=3)
    for post_id in (4, 5, 6, 7):
        store.write(into(OWNER, [post_id]))
    held = store.read(OWNER)
    assert (held.ids, held.floor) == ([7, 6, 5, 4], 3)


@pytest.mark.parametrize("value", [b"not a log", b""])
def test_what_is_no_log_grows_only_until_it_is_compacted(value, store, redis):
    redis.set(log_of(store, redis), value)

    for post_id in range(1, 9):
        store.write(into(OWNER, [post_id]))

    assert records_in(store, redis) <= 4


def test_a_compaction_that_comes_second_changes_nothing(store, redis):
    store.write(into(OWNER, [1, 2]))
    read = records_read(store, redis)
    store.run("compact", read)
    store.write(into(OWNER, [3]))

    store.run("compact", read)

    assert records_in(store, redis) == 1
    assert store.members(OWNER) == [3, 2, 1]


def test_what_arrives_during_a_compaction_stays_in_the_log(store, redis):
    store.write(into(OWNER, [1, 2]))
    read = records_read(store, redis)
    store.write(into(OWNER, [3]))

    store.run("compact", read)

    assert (records_in(store, redis), ids_in_the_ring(store, redis)) == (1, 2)
    assert store.members(OWNER) == [3, 2, 1]


def test_a_compaction_creates_absent_rings_and_activates_them(store, redis):
    store.write([(1, np.array([OWNER, OWNER + store.keys.shards]))])

    pending = store.write([(post_id, np.array([OWNER + store.keys.shards])) for post_id in (2, 3)])

    assert set(pending) == {OWNER + store.keys.shards}
    assert store.members(OWNER) == [1]


def test_a_batch_compacts_little_more_than_it_brings(store, redis):
    everyone = np.arange(1, 1 + store.keys.shards)
    opened(store, *everyone.tolist())
    store.log_records = 100
    store.write([(post_id, everyone) for post_id in range(1, 91)])
    store.log_records = 3

    store.write(into(OWNER, [91, 92]))

    logs = redis.keys("*}:log")
    assert sorted(redis.strlen(log) // RECORD_BYTES - 1 for log in logs)[:2] == [0, 90]


def test_a_connection_that_was_cut_sends_the_batch_again(store, redis):
    redis.client_kill_filter(_type="normal", skipme=True)

    store.write(into(OWNER, [1, 2]))

    assert store.members(OWNER) == [2, 1]


@pytest.mark.parametrize(
    ("people", "shards"),
    [(0, 64), (1_000, 64), (100_000, 1024), (1_000_000, 4096), (10**12, 2**14)],
)
def test_shards_grow_more_slowly_than_the_people(people, shards):
    assert shards_for(people) == shards

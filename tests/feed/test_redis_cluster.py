"""Timelines in a Redis Cluster: slots that move, nodes that die, and who becomes a primary."""

import os
import signal
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from django.db import connection
from redis.crc import key_slot
from redis.exceptions import RedisError

from feed import epochs
from feed.delivery import deliver_pending
from feed.friendships import unfriend
from feed.models import Epoch, Post
from feed.selectors import store_state
from feed.timeline import read_page
from feed.timeline_stores import get_timeline_store, redis_cluster
from feed.timeline_stores.redis_cluster import SLOTS, Cluster, Members, Topology, tags
from feed.timeline_stores.redis_servers import thread
from lab.faults.unguarded.following import following
from launch.servers.redis import NODE_TIMEOUT_S, Node
from tests.conftest import make_people, whole_timelines
from tests.conftest import redis_cluster as started
from tests.feed.deliveries import audited, ids, posts_by

PEOPLE = 200
FAILOVER_S = 5 * NODE_TIMEOUT_S
"""Longest time until a replica is promoted, on a busy machine."""

pytestmark = pytest.mark.usefixtures("undelayed")


@pytest.fixture
def cluster(tmp_path):
    with started(tmp_path) as cluster:
        yield cluster
    thread.clients.clear()


@pytest.fixture
def ring(settings, transactional_db, cluster, keep_timelines_at):
    """Person 1 has 199 friends, in all shards."""
    keep_timelines_at(cluster.environment["TIMELINE_URL"])
    settings.FEED_STRATEGY, settings.FEED_TIMELINE_STORE = "outbox", "ring"
    make_people(PEOPLE, [(1, n) for n in range(2, PEOPLE + 1)])
    whole_timelines()
    return get_timeline_store()


def deliver_all():
    """Deliver the backlog, however long the servers need."""
    give_up_at = time.monotonic() + FAILOVER_S
    while True:
        try:
            if not deliver_pending(1000):
                return
        except (RedisError, epochs.StoreUnusable):
            if time.monotonic() > give_up_at:
                raise
            time.sleep(0.05)


def until(happened):
    give_up_at = time.monotonic() + FAILOVER_S
    while not happened():
        assert time.monotonic() < give_up_at
        time.sleep(0.02)


@pytest.mark.parametrize("shards", [64, 1024])
@pytest.mark.parametrize("primaries", [3, 6, 7, 16])
def test_tags_spread_shards_evenly(shards, primaries):
    slots = [key_slot(tag.encode()) for tag in tags(shards)]

    shares = Counter(slot * primaries // SLOTS for slot in slots)

    assert slots == sorted(slots)
    assert max(shares.values()) - min(shares.values()) <= 2


def test_posts_are_spread_over_all_primaries_and_confirmed_by_replicas(ring, cluster):
    posts = posts_by(1, 3)
    deliver_all()

    held = [node.ask("DBSIZE") for node in cluster.primaries]
    assert all(0.8 * max(held) < it for it in held)
    assert [node.ask("DBSIZE") for node in cluster.replicas] == held
    assert ring.keys.shards == 64
    assert audited(ring).ok
    assert read_page(ring, 7).ids == ids(reversed(posts))


def test_a_script_that_servers_do_not_have_is_loaded_where_it_is_missing(ring, cluster):
    cluster.primaries[1].ask("SCRIPT FLUSH")

    posts_by(1, 1)
    deliver_all()

    assert audited(ring).ok


def moved(cluster, slots):
    """Move slots from the first primary to the second one, as redis-cli does."""
    source, target, *_ = cluster.primaries
    for slot in slots:
        migrating(source, target, slot)
        while keys := source.ask("CLUSTER GETKEYSINSLOT", slot, 10):
            source.ask("MIGRATE", "127.0.0.1", target.port, "", 0, 5000, "KEYS", *keys)
        for node in cluster.primaries:
            node.ask("CLUSTER SETSLOT", slot, "NODE", target.number())


def migrating(source: Node, target: Node, slot):
    target.ask("CLUSTER SETSLOT", slot, "IMPORTING", source.number())
    source.ask("CLUSTER SETSLOT", slot, "MIGRATING", target.number())


def slots_of(ring, count):
    """Return the slots of the first shards, which the first primary has."""
    return [key_slot(tag.encode()) for tag in tags(ring.keys.shards)[:count]]


def test_slots_that_moved_are_found(ring, cluster):
    before = posts_by(1, 2)
    deliver_all()
    number = Epoch.objects.get().number

    moved(cluster, slots_of(ring, 10))
    after = posts_by(1, 2)
    deliver_all()

    assert read_page(ring, 64).ids == ids(reversed(before + after))
    assert audited(ring).ok
    assert Epoch.objects.get().number == number


def test_what_is_delivered_while_slots_move_arrives(ring, cluster):
    stop, slots = Event(), slots_of(ring, 20)

    def work():
        try:
            while not stop.is_set():
                posts_by(1, 1)
                deliver_all()
        finally:
            connection.close()

    def until_more_are_delivered():
        so_far = delivered()
        until(lambda: delivered() > so_far + 3)

    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(work)
        try:
            until_more_are_delivered()
            moved(cluster, slots[:10])
            until_more_are_delivered()
            moved(cluster, slots[10:])
            until_more_are_delivered()
        finally:
            stop.set()
        working.result()

    assert audited(ring).ok


def delivered():
    return Post.objects.exclude(delivered_at=None).count()


@pytest.mark.parametrize("follows", [False, True])
def test_a_script_never_follows_a_slot_that_migrates(follows, ring, cluster, monkeypatch):
    """Where it does, timelines begin anew beside those that are still to come."""
    posts_by(1, 2)
    deliver_all()
    source, target, *_ = cluster.primaries
    (slot,) = slots_of(ring, 1)
    monkeypatch.setattr(redis_cluster, "MIGRATES_FOR_S", 0.1)
    if follows:
        monkeypatch.setattr(redis_cluster, "exchange", following(redis_cluster.exchange))
    migrating(source, target, slot)

    posts_by(1, 1)
    if follows:
        deliver_pending(100)
    else:
        with pytest.raises(RedisError, match="is being moved"):
            deliver_pending(100)

    assert bool(target.ask("CLUSTER COUNTKEYSINSLOT", slot)) == follows
    if not follows:
        moved(cluster, [slot])
        deliver_all()
        assert audited(ring).ok


def kill(cluster, node):
    for pid in cluster.processes.pids(node.role):
        os.kill(pid, signal.SIGKILL)
    cluster.processes.stop(node.role)


def promoted(cluster):
    """Return whether the first replica has its primary's slots, as far as all others know."""
    alive = [node for node in cluster.nodes if cluster.processes.pids(node.role)]
    replica = f"{cluster.replicas[0].address}:{cluster.replicas[0].port}"
    return all(it.ask("CLUSTER NODES")[replica]["slots"] for it in alive)


def test_a_replica_takes_the_place_of_a_primary_that_died(ring, cluster):
    before = posts_by(1, 3)
    deliver_all()
    number, server = Epoch.objects.values_list("number", "server").get()

    kill(cluster, cluster.primaries[0])
    after = posts_by(1, 3)
    deliver_all()

    epoch = Epoch.objects.get()
    assert epoch.number == number
    assert Members.of(epoch.server).primaries - Members.of(server).primaries
    assert store_state() == "ok"
    assert read_page(ring, 64).ids == ids(reversed(before + after))
    assert audited(ring).ok


def test_pages_come_from_the_database_until_a_promotion_is_noted(ring, cluster):
    posts = posts_by(1, 3)
    deliver_all()
    kill(cluster, cluster.primaries[0])
    until(lambda: promoted(cluster))

    assert read_page(ring, 64).ids == ids(reversed(posts))
    assert not epochs.is_usable(ring)
    assert read_page(ring, 64).ids == ids(reversed(posts))


def test_a_process_that_sent_nothing_meanwhile_finds_the_promoted_replica(ring, cluster):
    posts_by(1, 1)
    deliver_all()
    idle = Cluster(cluster.environment["TIMELINE_URL"], "")
    assert idle.are(Epoch.objects.get().server)

    kill(cluster, cluster.primaries[0])
    until(lambda: promoted(cluster))
    deliver_all()
    cluster.primaries[0].start()  # now a replica

    until(lambda: answers(lambda: idle.are(Epoch.objects.get().server)))


def answers(ask):
    try:
        return ask()
    except RedisError:
        return False


@pytest.mark.parametrize("safeguard", ["confirmation", "redelivery", ""])
def test_what_a_promoted_replica_lacks_is_not_lost(safeguard, ring, cluster, monkeypatch):
    """Either of two safeguards is enough: without both, posts are missing."""
    primary, replica = cluster.primaries[0], cluster.replicas[0]
    posts_by(1, 1)
    deliver_all()
    if safeguard != "confirmation":
        monkeypatch.setattr(Topology, "has_replica", lambda self, url: False)
    if safeguard != "redelivery":
        monkeypatch.setattr(redis_cluster.Cluster, "_timeout_s", lambda self: 0.0)
        monkeypatch.setattr(redis_cluster, "LOST_BEYOND_TIMEOUT_S", 0.0)
    cut_off(replica, primary)

    posts_by(1, 3)
    if safeguard == "confirmation":
        with pytest.raises(RedisError, match="no replica has confirmed"):
            deliver_pending(100)
    else:
        deliver_pending(100)
    kill(cluster, primary)
    until(lambda: promoted(cluster))
    deliver_all()
    deliver_all()

    assert not Post.objects.filter(delivered_at=None).exists()
    assert bool(audited(ring).missing) == (safeguard == "")


def test_an_unfriend_that_a_promoted_replica_lacks_is_not_lost(ring, cluster):
    """Of two replicas one has confirmed it, and dies with the primary; the other is promoted."""
    primary, replica, second = cluster.primaries[0], *cluster.replicas[:2]
    for node in cluster.nodes:
        node.ask("CONFIG SET", "cluster-allow-replica-migration", "no")
    second.ask("CLUSTER REPLICATE", primary.number())
    until(lambda: primary.ask("INFO", "replication")["connected_slaves"] == 2)
    until(cluster.is_well)
    Epoch.objects.update(server=ring.servers.identity())
    posts_by(1, 3)
    deliver_all()
    assert read_page(ring, 64).ids

    cut_off(replica, primary)
    unfriend(1, 64)
    kill(cluster, second)
    kill(cluster, primary)
    until(lambda: promoted(cluster))
    new = posts_by(1, 1)
    deliver_all()

    assert store_state() == "ok"
    assert read_page(ring, 64).ids == []
    assert read_page(ring, 65).ids[:1] == ids(new)
    assert audited(ring).ok


def cut_off(replica, primary):
    """Let a replica hear nothing of its primary any more."""
    replica.ask("CONFIG SET", "masterauth", "wrong")
    replica.ask("CONFIG SET", "masteruser", "nobody")
    primary.ask("CLIENT KILL", "TYPE", "replica")
    until(lambda: replica.ask("INFO", "replication")["master_link_status"] == "down")


def test_a_primary_that_comes_back_empty_begins_a_new_epoch(ring, cluster):
    posts = posts_by(1, 3)
    deliver_all()
    number = Epoch.objects.get().number
    primary = cluster.primaries[0]

    kill(cluster, primary)
    primary.start()  # before its replica could take its place
    assert read_page(ring, 64).ids == ids(reversed(posts))  # the database answers
    deliver_all()
    posts += posts_by(1, 1)
    deliver_all()

    assert Epoch.objects.get().number != number
    assert read_page(ring, 64).ids == ids(reversed(posts))
    assert audited(ring).ok


def test_friends_whose_nodes_are_away_get_their_posts_later(ring, cluster):
    """A post is receipted when every shard has it, and no request fails otherwise than by 503."""
    kill(cluster, cluster.primaries[0])
    kill(cluster, cluster.replicas[0])
    posts_by(1, 1)

    with pytest.raises(RedisError):
        deliver_pending(100)

    assert not Post.objects.exclude(delivered_at=None).exists()

"""Timelines in a Redis Cluster: slots that move, nodes that die, and who becomes a primary."""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event

import pytest
from django.db import connection
from redis.crc import key_slot
from redis.exceptions import RedisError

from feed import epochs
from feed.delivery import deliver_pending
from feed.follows import unfriend
from feed.models import Epoch, Post
from feed.selectors import store_state
from feed.timeline import read_page
from feed.timeline_stores import redis_cluster
from feed.timeline_stores.redis_cluster import SLOTS, Cluster, Members, Topology, tags
from feed.timeline_stores.redis_servers import thread
from lab.faults.unguarded.following import following
from launch.servers.redis import NODE_TIMEOUT_S, Node
from tests.conftest import make_people, whole_timelines
from tests.conftest import redis_cluster as started
from tests.feed.deliveries import audited, ids, posts_by
from tests.sessions import wait_until

PEOPLE = 200
FAILOVER_S = 5 * NODE_TIMEOUT_S
"""Longest time until a replica is promoted, on a busy machine."""

pytestmark = pytest.mark.usefixtures("undelayed")


@pytest.fixture(scope="module")
def lasting(tmp_path_factory):
    """A cluster for tests that leave its nodes alive."""
    with started(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def cluster(tmp_path):
    with started(tmp_path) as cluster:
        yield cluster


@pytest.fixture
def ring_on(settings, transactional_db, keep_timelines_at):
    """Call it for the store on an empty cluster. Person 1 has 199 friends, in all shards."""

    def ring_on(cluster):
        for node in cluster.primaries:
            node.ask("FLUSHALL")
        keep_timelines_at(cluster.environment["TIMELINE_URL"])
        settings.FEED_STRATEGY, settings.FEED_TIMELINE_STORE = "outbox", "ring"
        make_people(PEOPLE, [(1, n) for n in range(2, PEOPLE + 1)])
        return whole_timelines()

    yield ring_on
    thread.clients.clear()


@pytest.fixture
def ring(ring_on, cluster):
    """The store on a cluster of which nodes may be killed."""
    return ring_on(cluster)


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
    wait_until(happened, FAILOVER_S)


@pytest.mark.parametrize("shards", [64, 1024])
@pytest.mark.parametrize("primaries", [3, 6, 7, 16])
def test_tags_spread_shards_evenly(shards, primaries):
    slots = [key_slot(tag.encode()) for tag in tags(shards)]

    shares = Counter(slot * primaries // SLOTS for slot in slots)

    assert slots == sorted(slots)
    assert max(shares.values()) - min(shares.values()) <= 2


def test_posts_are_spread_over_all_primaries_and_confirmed_by_replicas(ring_on, lasting):
    ring = ring_on(lasting)
    posts = posts_by(1, 3)
    deliver_all()

    held = [node.ask("DBSIZE") for node in lasting.primaries]
    assert all(0.8 * max(held) < size for size in held)
    assert [node.ask("DBSIZE") for node in lasting.replicas] == held
    assert ring.keys.shards == 64
    assert audited(ring).ok
    assert read_page(ring, 7).ids == ids(reversed(posts))


def moved(source, target, others, slots):
    """Move slots as redis-cli does."""
    for slot in slots:
        migrating(source, target, slot)
        while keys := source.ask("CLUSTER GETKEYSINSLOT", slot, 10):
            source.ask("MIGRATE", "127.0.0.1", target.port, "", 0, 5000, "KEYS", *keys)
        for node in (target, source, *others):
            node.ask("CLUSTER SETSLOT", slot, "NODE", target.number())


def migrating(source: Node, target: Node, slot):
    target.ask("CLUSTER SETSLOT", slot, "IMPORTING", source.number())
    source.ask("CLUSTER SETSLOT", slot, "MIGRATING", target.number())


def slots_of(ring, count):
    """Return the slots of the first shards, which the first primary has."""
    return [key_slot(tag.encode()) for tag in tags(ring.keys.shards)[:count]]


def test_what_is_delivered_while_slots_move_arrives(ring_on, lasting):
    """They move to another primary and back."""
    ring, (first, second, third) = ring_on(lasting), lasting.primaries
    stop, slots = Event(), slots_of(ring, 10)
    number = Epoch.objects.get().number

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
            moved(first, second, [third], slots)
            until_more_are_delivered()
            moved(second, first, [third], slots)
            until_more_are_delivered()
        finally:
            stop.set()
        working.result()

    assert audited(ring).ok
    assert Epoch.objects.get().number == number


def delivered():
    return Post.objects.exclude(delivered_at=None).count()


@pytest.mark.parametrize("follows", [False, True])
def test_a_script_never_follows_a_slot_that_migrates(follows, ring_on, lasting, monkeypatch):
    """Where it does, timelines begin anew beside those that are still to come."""
    ring, (source, target, other) = ring_on(lasting), lasting.primaries
    posts_by(1, 2)
    deliver_all()
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
    if follows:
        target.ask("FLUSHALL")
    moved(source, target, [other], [slot])
    if not follows:
        deliver_all()
        assert audited(ring).ok
    moved(target, source, [other], [slot])


def promoted(cluster):
    """Return whether the first replica has its primary's slots, as far as all others know."""
    alive = [node for node in cluster.nodes if cluster.processes.pids(node.role)]
    replica = f"{cluster.replicas[0].address}:{cluster.replicas[0].port}"
    return all(node.ask("CLUSTER NODES")[replica]["slots"] for node in alive)


def test_a_replica_takes_the_place_of_a_primary_that_died(ring, cluster):
    """Pages come from the database until that is noted; a process that sent nothing notices."""
    posts = posts_by(1, 3)
    deliver_all()
    number, server = Epoch.objects.values_list("number", "server").get()
    idle = Cluster(cluster.environment["TIMELINE_URL"], "")
    assert idle.are(server)

    cluster.processes.kill(cluster.primaries[0].role)
    posts += posts_by(1, 3)
    with suppress(RedisError, epochs.StoreUnusable):
        deliver_pending(100)
    until(lambda: promoted(cluster))
    for _ in range(2):
        assert read_page(ring, 64).ids == ids(reversed(posts))
    assert not epochs.is_usable(ring)
    deliver_all()

    epoch = Epoch.objects.get()
    assert epoch.number == number
    assert Members.of(epoch.server).primaries - Members.of(server).primaries
    assert store_state() == "ok"
    assert read_page(ring, 64).ids == ids(reversed(posts))
    assert audited(ring).ok
    cluster.primaries[0].start()  # now a replica
    until(lambda: answers(lambda: idle.are(Epoch.objects.get().server)))


def answers(ask):
    try:
        return ask()
    except RedisError:
        return False


@pytest.mark.parametrize("are_delivered_again", [True, False])
def test_what_a_promoted_replica_lacks_is_not_lost(are_delivered_again, ring, cluster, monkeypatch):
    """Either of two safeguards is enough: without both, posts are missing."""
    primary = cluster.primaries[0]
    posts_by(1, 1)
    deliver_all()
    cut_off(cluster.replicas[0], primary)
    posts_by(1, 3)

    with pytest.raises(RedisError, match="no replica has confirmed"):
        deliver_pending(100)
    assert Post.objects.filter(delivered_at=None).count() == 3

    monkeypatch.setattr(Topology, "has_replica", lambda self, url: False)
    if not are_delivered_again:
        monkeypatch.setattr(redis_cluster.Cluster, "_timeout_s", lambda self: 0.0)
        monkeypatch.setattr(redis_cluster, "LOST_BEYOND_TIMEOUT_S", 0.0)
    deliver_pending(100)
    cluster.processes.kill(primary.role)
    until(lambda: promoted(cluster))
    deliver_all()
    deliver_all()

    assert not Post.objects.filter(delivered_at=None).exists()
    assert bool(audited(ring).missing) != are_delivered_again


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
    cluster.processes.kill(second.role)
    cluster.processes.kill(primary.role)
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

    cluster.processes.kill(primary.role)
    primary.start()  # before its replica could take its place
    assert read_page(ring, 64).ids == ids(reversed(posts))  # the database answers
    deliver_all()
    posts += posts_by(1, 1)
    deliver_all()

    assert Epoch.objects.get().number != number
    assert read_page(ring, 64).ids == ids(reversed(posts))
    assert audited(ring).ok

"""Faults of a running service. Each returns how much was there to lose."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import closing, contextmanager

import psutil
from redis import Redis

from lab.faults.readers import LATEST_S, PENDING
from lab.faults.running import freeze_when, kill_when, wait_for
from launch.service import gunicorn
from launch.variants import Variant

TRUSTED_S = 2.5
"""Seconds after a restore of the database for which a process may use what it knew, and
the drainer hasn't looked yet: docs/decisions/0041 says so."""
CLAIMED = "SELECT id, author_id FROM feed_post WHERE delivered_at IS NULL ORDER BY id LIMIT 5"
NEXT_STORE = {"ring": "log", "log": "setbased", "setbased": "ring"}


def redis_of(running):
    return Redis.from_url(running.service.environments[0]["REDIS_URL"])


def empty(running, readers):
    with redis_of(running) as redis:
        held = len(redis.keys("timeline:*"))
        redis.flushall()
        return held


def evict(running, readers):
    """Take half of the keys, whatever they are."""
    with redis_of(running) as redis:
        keys = redis.keys("timeline:*")
        return redis.delete(*random.sample(keys, len(keys) // 2))


def spoil(running, readers):
    """Put values of another type in place of some timelines, or logs."""
    with redis_of(running) as redis:
        keys = redis.keys("timeline:*}:[0-9]*") + redis.keys("timeline:*}:log")
        for key in random.sample(keys, 20):
            with redis.pipeline() as at_once:  # a delivery in between would make the key again
                at_once.delete(key).sadd(key, "not a timeline").execute()
        return len(keys)


def restart_redis(running, readers):
    """Kill Redis, which starts again without its timelines."""
    with redis_of(running) as redis:
        held = len(redis.keys("timeline:*"))
    (running.server("redis").folder / "dump.rdb").unlink(missing_ok=True)
    restart(running, "redis")
    return held


def restore_redis(running, readers):
    """Kill Redis, which starts again with a copy of a second or two before."""
    with redis_of(running) as redis:
        redis.save()
    saved_at = time.monotonic()
    time.sleep(random.uniform(1, 2))
    held = running.accepted_between(saved_at, time.monotonic())
    restart(running, "redis")
    return held


def restore_database(running, readers):
    """Kill the database, which starts again with a copy of a second or two before."""
    server = running.server("database")
    copy = server.folder / "copy"
    with readers.held_up(), frozen(running.processes.pids("database")):
        subprocess.run(["cp", "-a", "--sparse=always", server.data, copy], check=True)
    time.sleep(random.uniform(1, 2))
    with readers.blind(TRUSTED_S):
        running.kill("database")
        with running.without_clients():
            shutil.rmtree(server.data)
            copy.rename(server.data)
            server.start()
            kept = {post_id for (post_id,) in running.rows("SELECT id FROM feed_post")}
            gone = [post for _, post in running.accepted if post["id"] not in kept]
            running.accepted = [it for it in running.accepted if it[1]["id"] in kept]
            readers.gone |= {(post["id"], post["created_at"]) for post in gone}
    time.sleep(TRUSTED_S)
    return len(gone)


def step_back(running, readers):
    """Let the database's clock be an hour late, as all its clients see it."""
    with closing(running.connect()) as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT TIMESTAMPDIFF(HOUR, UTC_TIMESTAMP(), NOW()) - 1")
        ((hours,),) = cursor.fetchall()
        cursor.execute(f"SET GLOBAL time_zone = '-{-hours:02}:00'")
        cursor.execute("SELECT id FROM information_schema.processlist WHERE db = 'feed'")
        for (number,) in cursor.fetchall():
            if number != connection.thread_id():
                running.end_connection(number)
    return running.query("SELECT count(*) FROM feed_post WHERE created_at > NOW()")


def kill_drainer(running, readers):
    with readers.held_up():
        kill_when(lambda: running.workers_of("workers"), in_flight(running))
        lost = running.query(PENDING)
        replace_drainers(running)
    return lost


def outlive_a_claim(running, readers):
    """Freeze a drainer until its posts are delivered, and friendships ended; then let it go on."""
    with readers.held_up(), closing(readers.connection()) as http:
        zombie = freeze_when(lambda: running.workers_of("workers"), in_flight(running))
        claimed = running.rows(CLAIMED)
        with running.without_clients():  # so that its posts are among those that are loaded
            for number in running.transactions(zombie):
                running.end_connection(number)
            running.service.start_workers()
            wait_for(lambda: running.query(f"{PENDING} AND id <= {claimed[-1][0]}") == 0)
            pairs = [(author, min(readers.friends[author])) for author in {it[1] for it in claimed}]
            with readers.blind():
                for pair in pairs:
                    readers.unfriend(http, *pair)
            for person in sum(pairs, ()):
                readers.read(http, person)  # and load the timeline
            os.kill(zombie, signal.SIGCONT)
        time.sleep(LATEST_S / 2)
        for person in sum(pairs, ()):
            readers.read(http, person)
        replace_drainers(running)
    return len(claimed)


def switch(running, readers):
    """Choose another store, as documented, with processes of both for a while."""
    service, processes, began = running.service, running.processes, time.monotonic()
    store = NEXT_STORE[service.variant.store]
    service.variant = Variant.named(f"mysql_tuned-outbox-{store}")
    (env,) = service.environments
    before, running.roles = running.roles, [f"web of {store}", f"workers of {store}"]
    web, workers = running.roles
    processes.start(web, gunicorn(service.port), env)
    processes.start(workers, [sys.executable, "manage.py", "drain"], env)
    wait_for(lambda: len(running.workers_of(web)) > 1)
    time.sleep(random.uniform(2, 3))
    service.manage("begin_epoch", env)
    time.sleep(random.uniform(0, 1))
    for role in before:
        processes.stop(role)
    return running.accepted_between(began, time.monotonic())


def in_flight(running):
    """Return whether a process is inside its transaction, with posts to deliver."""
    return lambda pid: running.in_transaction(pid) and running.query(PENDING) > 0


def replace_drainers(running):
    running.processes.stop("workers")
    running.service.start_workers()


def restart(running, role):
    running.kill(role)
    running.server(role).start()


@contextmanager
def frozen(pids):
    processes = [psutil.Process(pid) for pid in pids]
    for process in processes:
        process.suspend()
    try:
        yield
    finally:
        for process in processes:
            process.resume()

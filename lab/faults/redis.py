"""Redis empties, evicts, fills up, dies, grows older or stops answering."""

import random
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, closing

from redis import Redis

from lab.faults.fault import fault, in_one_redis
from lab.faults.readers import Readers
from lab.faults.running import Running, wait_for
from lab.running.threads import repeated
from launch.processes import frozen

TIMELINES = "timeline:*"
FULL_S = 2.0
FROZEN_S = 6.0
CROWD = 20
"""Readers more, so that most requests come when it is known that the server is away."""


def redis_of(running: Running) -> Redis:
    return Redis.from_url(running.service.environments[0]["REDIS_URL"])


def timelines(redis: Redis) -> list[bytes | str]:
    return list(redis.scan_iter(TIMELINES))


@fault(
    "Redis is emptied by FLUSHALL.",
    at_stake="keys",
    needs=(in_one_redis,),
    safeguard="floors",
)
def redis_emptied(running: Running, readers: Readers) -> int:
    with redis_of(running) as redis:
        held = len(timelines(redis))
        redis.flushall()
        return held


@fault(
    f"For {FULL_S:g} s, Redis has a third less memory than it needs, and evicts keys.",
    at_stake="evicted keys",
    needs=(in_one_redis,),
    safeguard="floors",
)
def redis_evicting(running: Running, readers: Readers) -> int:
    return be_full(running, "allkeys-random", evicted)  # with lru, timelines that are written stay


@fault(
    f"For {FULL_S:g} s, Redis refuses all commands that need memory.",
    at_stake="refused commands",
    needs=(in_one_redis,),
    safeguard="receipts",
)
def redis_full(running: Running, readers: Readers) -> int:
    return be_full(running, "noeviction", refused)


@fault(
    "Redis is killed, and starts again with nothing.",
    at_stake="keys",
    needs=(in_one_redis,),
    safeguard="floors",
)
def redis_killed(running: Running, readers: Readers) -> int:
    with redis_of(running) as redis:
        held = len(timelines(redis))
    (running.server("redis").folder / "dump.rdb").unlink(missing_ok=True)
    running.restart("redis")
    return held


@fault(
    "Redis is killed, and starts again with a copy of one or two seconds before.",
    at_stake="posts that the copy lacks",
    needs=(in_one_redis,),
    safeguard="epochs",
)
def redis_older_copy(running: Running, readers: Readers) -> int:
    with redis_of(running) as redis:
        redis.save()
    saved_at = time.monotonic()
    time.sleep(random.uniform(1, 2))  # noqa: S311
    lacking = running.accepted_between(saved_at, time.monotonic())
    running.restart("redis")
    return lacking


@fault(
    f"Redis is stopped for {FROZEN_S:g} s, with its connections open (SIGSTOP).",
    at_stake="requests meanwhile",
    needs=(in_one_redis,),
    safeguard="refusals",
)
def redis_frozen(running: Running, readers: Readers) -> int:
    return freeze(running, "redis")


def be_full(running: Running, policy: str, harm: Callable[[Redis], int]) -> int:
    """Leave two thirds of the memory that the keys take, beside what an empty server takes.

    Returns by how much ``harm``, a count of what the server did for that, has grown.
    """
    with redis_of(running) as redis:
        before, memory = harm(redis), redis.info("memory")
        kept = memory["used_memory_startup"] + memory["used_memory_dataset"] * 2 // 3
        redis.config_set("maxmemory-policy", policy)
        redis.config_set("maxmemory", kept)
        try:
            time.sleep(FULL_S)
            wait_for(lambda: harm(redis) > before)
        finally:
            redis.config_set("maxmemory", 0)
            redis.config_set("maxmemory-policy", "noeviction")
        return harm(redis) - before


def evicted(redis: Redis) -> int:
    return int(redis.info("stats")["evicted_keys"])


def refused(redis: Redis) -> int:
    """Return how many commands were refused because memory is full."""
    errors = redis.info("errorstats")
    return int(errors.get("errorstat_OOM", {"count": 0})["count"])


def crowd(running: Running) -> AbstractContextManager[None]:
    """Let CROWD people open their feeds while the block runs, each time on a new connection."""

    def read() -> None:
        with closing(running.connection()) as http:
            running.ask(http, running.tokens[0], "GET", "/v1/feed/", None)

    return repeated(*[read] * CROWD, every_s=0.05)


def freeze(running: Running, role: str) -> int:
    """Stop a server for FROZEN_S under a crowd; return how many requests there were meanwhile.

    Those that waited count too: all may wait, if each thread of the service had just asked.
    """
    with crowd(running):
        before = len(running.answers)
        with frozen(running.processes.pids(role)):
            time.sleep(FROZEN_S)
    return len(running.answers) - before

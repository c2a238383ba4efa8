"""A Redis whose memory is full: it evicts keys, or refuses what needs more."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from redis import Redis

from lab.faults.base import Fault
from lab.faults.catalogue.redis_keys import redis_of
from lab.faults.readers import Readers
from lab.faults.running import Running, wait_for

FULL_S = 2.0


class Evicting(Fault):
    name = "redis-evicting"
    text = f"For {FULL_S:g} s, Redis has a third less memory than it needs, and evicts keys."
    safeguard = "floors"
    at_stake = "evicted keys"
    needs_redis: ClassVar[bool] = True

    def inject(self, running: Running, readers: Readers) -> int:
        with redis_of(running) as redis:
            before = evicted(redis)
            with limited(redis, "allkeys-random"):  # with lru, timelines that are written stay
                time.sleep(FULL_S)
                wait_for(lambda: evicted(redis) > before)
            return evicted(redis) - before


class Full(Fault):
    name = "redis-full"
    text = f"For {FULL_S:g} s, Redis refuses all commands that need memory."
    safeguard = "receipts"
    at_stake = "refused commands"
    needs_redis: ClassVar[bool] = True

    def inject(self, running: Running, readers: Readers) -> int:
        with redis_of(running) as redis, readers.held_up():
            before = refused(redis)
            with limited(redis, "noeviction"):
                time.sleep(FULL_S)
                wait_for(lambda: refused(redis) > before)
            return refused(redis) - before


@contextmanager
def limited(redis: Redis, policy: str) -> Iterator[None]:
    """Leave two thirds of the memory that the keys take, beside what an empty server takes."""
    memory = redis.info("memory")
    kept = memory["used_memory_startup"] + memory["used_memory_dataset"] * 2 // 3
    redis.config_set("maxmemory-policy", policy)
    redis.config_set("maxmemory", kept)
    try:
        yield
    finally:
        redis.config_set("maxmemory", 0)
        redis.config_set("maxmemory-policy", "noeviction")


def evicted(redis: Redis) -> int:
    return int(redis.info("stats")["evicted_keys"])


def refused(redis: Redis) -> int:
    """Return how many commands were refused because memory is full."""
    errors = redis.info("errorstats")
    return int(errors.get("errorstat_OOM", {"count": 0})["count"])

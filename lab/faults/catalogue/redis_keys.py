"""Keys of Redis that vanish, or hold something else."""

import random
from typing import ClassVar

from redis import Redis

from lab.faults.base import Fault
from lab.faults.readers import Readers
from lab.faults.running import Running

TIMELINES = "timeline:*"
SPOILED = 20


def redis_of(running: Running) -> Redis:
    return Redis.from_url(running.service.environments[0]["REDIS_URL"])


def timelines(redis: Redis) -> list[bytes | str]:
    return list(redis.scan_iter(TIMELINES))


class Emptied(Fault):
    name = "redis-emptied"
    text = "Redis is emptied by FLUSHALL."
    safeguard = "floors"
    at_stake = "keys"
    needs_redis: ClassVar[bool] = True

    def inject(self, running: Running, readers: Readers) -> int:
        with redis_of(running) as redis:
            held = len(timelines(redis))
            redis.flushall()
            return held


class HalfGone(Fault):
    name = "redis-half-gone"
    text = "Half of the keys in Redis vanish, as if evicted."
    safeguard = "floors"
    at_stake = "keys"
    needs_redis: ClassVar[bool] = True

    def inject(self, running: Running, readers: Readers) -> int:
        with redis_of(running) as redis:
            keys = timelines(redis)
            return int(redis.delete(*random.sample(keys, len(keys) // 2)))


class Spoiled(Fault):
    name = "redis-wrong-type"
    text = f"{SPOILED} keys of timelines in Redis get values of another type."
    safeguard = "floors"
    at_stake = "keys"
    needs_redis: ClassVar[bool] = True

    def inject(self, running: Running, readers: Readers) -> int:
        with redis_of(running) as redis:
            keys = [*redis.keys("timeline:*}:[0-9]*"), *redis.keys("timeline:*}:log")]
            spoiled = random.sample(keys, min(SPOILED, len(keys)))
            for key in spoiled:
                # At once: a delivery in between would create the key again.
                with redis.pipeline() as pipeline:
                    pipeline.delete(key).sadd(key, "not a timeline").execute()
            return len(spoiled)

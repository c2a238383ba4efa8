"""A Redis that dies, or stops answering."""

import random
import time
from typing import ClassVar

from lab.faults.base import Fault
from lab.faults.catalogue.redis_keys import redis_of, timelines
from lab.faults.readers import Readers
from lab.faults.running import Running, frozen

FROZEN_S = 6.0


class Killed(Fault):
    name = "redis-killed"
    text = "Redis is killed, and starts again with nothing."
    safeguard = "floors"
    at_stake = "keys"
    needs_redis: ClassVar[bool] = True

    def inject(self, running: Running, readers: Readers) -> int:
        with redis_of(running) as redis:
            held = len(timelines(redis))
        (running.server("redis").folder / "dump.rdb").unlink(missing_ok=True)
        with readers.held_up():
            running.restart("redis")
        return held


class OlderCopy(Fault):
    name = "redis-older-copy"
    text = "Redis is killed, and starts again with a copy of one or two seconds before."
    safeguard = "epochs"
    at_stake = "posts that the copy lacks"
    needs_redis: ClassVar[bool] = True

    def inject(self, running: Running, readers: Readers) -> int:
        with redis_of(running) as redis:
            redis.save()
        saved_at = time.monotonic()
        time.sleep(random.uniform(1, 2))  # noqa: S311
        held = running.accepted_between(saved_at, time.monotonic())
        with readers.held_up():
            running.restart("redis")
        return held


class Frozen(Fault):
    name = "redis-frozen"
    text = f"Redis is stopped for {FROZEN_S:g} s, with its connections open (SIGSTOP)."
    safeguard = "refusals"
    at_stake = "requests answered meanwhile"
    needs_redis: ClassVar[bool] = True
    probes_within_s: ClassVar[float] = 1.0

    def inject(self, running: Running, readers: Readers) -> int:
        with readers.held_up():
            return freeze(running, "redis")


def freeze(running: Running, role: str) -> int:
    """Stop a server for FROZEN_S; return how many requests were answered meanwhile."""
    before = len(running.answers)
    with frozen(running.processes.pids(role)):
        time.sleep(FROZEN_S)
    return len(running.answers) - before

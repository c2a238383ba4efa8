"""Timelines that are not what was delivered, since somebody has changed them."""

import random
import time
from typing import ClassVar

from lab.faults.base import Fault
from lab.faults.catalogue.redis_keys import redis_of
from lab.faults.readers import Readers
from lab.faults.running import Running

PAIRS = 20
NOTICED_S = 2.5
"""Time in which all processes know of a new epoch (feed/epochs.py)."""


class Swapped(Fault):
    name = "timelines-swapped"
    text = (
        f"{PAIRS} pairs of people get each other's timelines in Redis, until manage.py begin_epoch "
        "lets the database answer."
    )
    safeguard = "new epochs"
    at_stake = "timelines"
    needs_redis: ClassVar[bool] = True

    def inject(self, running: Running, readers: Readers) -> int:
        (env,) = running.service.environments
        with readers.blind(NOTICED_S), redis_of(running) as redis:
            keys = redis.keys("timeline:*}:[0-9]*")
            pairs = random.sample(keys, min(2 * PAIRS, len(keys) // 2 * 2))
            for one, other in zip(pairs[::2], pairs[1::2], strict=True):
                with redis.pipeline() as pipeline:
                    pipeline.rename(one, "swapped").rename(other, one).rename("swapped", other)
                    pipeline.execute()
            running.service.manage("begin_epoch", env)
        time.sleep(NOTICED_S)
        return len(pairs)

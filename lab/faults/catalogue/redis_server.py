"""A Redis that dies, or stops answering."""

import random
import time
from contextlib import closing
from http.client import HTTPConnection
from typing import ClassVar

from lab.faults.base import Fault
from lab.faults.catalogue.redis_keys import redis_of, timelines
from lab.faults.readers import Readers
from lab.faults.running import CLIENT_WAITS_S, Repeated, Running, frozen

FROZEN_S = 6.0
CROWD = 20
"""Readers more, so that most requests come when it is known that the server is away."""


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

    def inject(self, running: Running, readers: Readers) -> int:
        return freeze(running, readers, "redis")


class Crowd(Repeated):
    """Many people who open their feeds, each time on a new connection."""

    def __init__(self, running: Running) -> None:
        super().__init__([self._read] * CROWD)
        self.running = running

    def _read(self) -> None:
        while not self.stopping.wait(0.05):
            address = self.running.service.address, self.running.service.port
            with closing(HTTPConnection(*address, timeout=CLIENT_WAITS_S)) as http:
                self.running.ask(http, self.running.tokens[0], "GET", "/v1/feed/", None)


def freeze(running: Running, readers: Readers, role: str) -> int:
    """Stop a server for FROZEN_S under a crowd; return how many requests were answered."""
    with readers.held_up(), Crowd(running):
        before = len(running.answers)
        with frozen(running.processes.pids(role)):
            time.sleep(FROZEN_S)
        return len(running.answers) - before

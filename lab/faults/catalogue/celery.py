"""Celery's workers die, and its broker forgets or is away."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, ClassVar
from urllib.parse import urlsplit

import psutil
from amqp import Connection
from redis import Redis

from lab.faults.base import Fault
from lab.faults.catalogue.drainer import in_flight
from lab.faults.catalogue.redis_server import FROZEN_S
from lab.faults.readers import PENDING, Readers
from lab.faults.running import Repeated, Running, freeze_when, frozen, kill_when, wait_for

QUEUE = "celery"
AWAY_S = 2.0


class CeleryFault(Fault):
    at_stake = "posts in flight"
    needs_mysql: ClassVar[bool] = True
    needs_celery: ClassVar[bool] = True
    refuses: ClassVar[bool] = False


class ChildKilled(CeleryFault):
    name = "celery-child-killed"
    text = "A process of the Celery worker is killed in its transaction."
    safeguard = "receipts"

    def inject(self, running: Running, readers: Readers) -> int:
        with readers.held_up():
            killed = kill_when(lambda: children(running), in_flight(running))
            lost = running.query(PENDING)
            wait_for(lambda: killed not in children(running))
        return lost


class ChildFrozen(CeleryFault):
    name = "celery-child-frozen"
    text = f"A process of the Celery worker is stopped in its transaction for {FROZEN_S:g} s."
    safeguard = "receipts"

    def inject(self, running: Running, readers: Readers) -> int:
        with readers.held_up():
            stopped = freeze_when(lambda: children(running), in_flight(running))
            held = running.query(PENDING)
            time.sleep(FROZEN_S)
            os.kill(stopped, signal.SIGCONT)
        return held


class WorkerKilled(CeleryFault):
    name = "celery-worker-killed"
    text = "The Celery worker is killed with all its processes, one of them in its transaction."
    safeguard = "receipts"

    def inject(self, running: Running, readers: Readers) -> int:
        with readers.held_up():
            main = celery_main(running)
            kill_when(lambda: children(running), in_flight(running))
            for process in (main, *main.children()):
                os.kill(process.pid, signal.SIGKILL)
            lost = running.query(PENDING)
            time.sleep(0.5)
            running.replace_drainers()
        return lost


class BrokerForgets(CeleryFault):
    name = "broker-forgets"
    text = "All messages vanish from the broker."
    safeguard = "sweeps"
    at_stake = "posts whose message may be gone"

    def inject(self, running: Running, readers: Readers) -> int:
        # Stopped, so that messages wait for it.
        with readers.held_up(), frozen([celery_main(running).pid]):
            wait_for(lambda: waiting(running) > 0 and running.query(PENDING) > 0)
            lost = running.query(PENDING)
            forget(running)
        return lost


class BrokerFault(CeleryFault):
    """A fault of the broker, after which workers may have to be restarted."""

    safeguard = "sweeps"
    at_stake = "posts accepted meanwhile"
    refuses: ClassVar[bool] = True
    """Where the broker is the Redis that has the cache too, pages are refused."""

    def during(self, running: Running) -> AbstractContextManager[object]:
        return Supervised(running)


class BrokerAway(BrokerFault):
    name = "broker-away"
    text = f"The broker is stopped, and starts again after {AWAY_S:g} s."

    def inject(self, running: Running, readers: Readers) -> int:
        broker = running.service.servers[-1]
        with readers.held_up():
            running.processes.stop(broker.role)
            gone_at = time.monotonic()
            time.sleep(AWAY_S)
            broker.start()
            return running.accepted_between(gone_at, time.monotonic())


class Supervised(Repeated):
    """The workers are restarted if one ends, as compose does.

    A worker survives without its broker unless that vanishes during a task: closing the channel
    then calls the broker once more, and kombu 5.7 fails there with an AttributeError. It may end
    only when the broker has been back for a second.
    """

    def __init__(self, running: Running) -> None:
        super().__init__([self._supervise])
        self.running = running

    def _supervise(self) -> None:
        while not self.stopping.wait(0.2):
            if self.running.processes.have_ended("workers"):
                self.running.replace_drainers()


def celery_main(running: Running) -> psutil.Process:
    """Return the process of the Celery worker whose children do the work."""
    candidates = map(psutil.Process, running.processes.pids("workers"))
    (main,) = [process for process in candidates if "worker" in process.cmdline()]
    return main


def children(running: Running) -> list[int]:
    return [child.pid for child in celery_main(running).children()]


def waiting(running: Running) -> int:
    """Return how many messages wait in the broker."""
    if running.service.variant.broker == "redis":
        with _redis(running) as redis:
            return int(redis.llen(QUEUE))
    with channel(running) as opened:
        return int(opened.queue_declare(QUEUE, passive=True).message_count)


def forget(running: Running) -> None:
    """Remove all messages from the broker."""
    if running.service.variant.broker == "redis":
        with _redis(running) as redis:
            redis.flushdb()
        return
    with channel(running) as opened:
        opened.queue_purge(QUEUE)


def _url(running: Running) -> str:
    return running.service.environments[0]["BROKER_URL"]


def _redis(running: Running) -> Redis:
    return Redis.from_url(_url(running))


@contextmanager
def channel(running: Running) -> Iterator[Any]:
    host = urlsplit(_url(running)).netloc.partition("@")[2]
    with Connection(host) as connection:
        yield connection.channel()

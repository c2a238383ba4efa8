"""Celery's workers die, and its broker dies, forgets or stops answering."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import psutil
from amqp import Connection
from redis import Redis

from lab.faults.fault import fault, on_mysql, with_celery
from lab.faults.readers import PENDING, Readers
from lab.faults.redis import FROZEN_S, Crowd
from lab.faults.running import Repeated, Running, frozen, kill_when, wait_for
from lab.faults.workers import in_flight
from launch.variants import Variant

QUEUE = "celery"
AWAY_S = 2.0


@fault(
    "The Celery worker is killed with all its processes, one of them in its transaction.",
    at_stake="posts in flight",
    needs=(on_mysql, with_celery),
    safeguard="receipts",
    refuses=False,
)
def celery_worker_killed(running: Running, readers: Readers) -> int:
    with readers.held_up():
        main = celery_main(running)
        kill_when(lambda: [child.pid for child in main.children()], in_flight(running))
        for process in (main, *main.children()):
            os.kill(process.pid, signal.SIGKILL)
        lost = running.query(PENDING)
        time.sleep(0.5)
        running.replace_drainers()
    return lost


@fault(
    "All messages vanish from the broker.",
    at_stake="posts whose message may be gone",
    needs=(on_mysql, with_celery),
    safeguard="sweeps",
    refuses=False,
)
def broker_forgets(running: Running, readers: Readers) -> int:
    # Stopped, so that messages wait for it.
    with readers.held_up(), frozen([celery_main(running).pid]):
        wait_for(lambda: waiting(running) > 0 and running.query(PENDING) > 0)
        lost = running.query(PENDING)
        forget(running)
    return lost


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


@fault(
    f"The broker is killed, and starts again after {AWAY_S:g} s.",
    at_stake="posts accepted meanwhile",
    needs=(on_mysql, with_celery),
    safeguard="sweeps",
    around=Supervised,
)
def broker_killed(running: Running, readers: Readers) -> int:
    broker = running.service.servers[-1]
    with readers.held_up():
        killed_at = time.monotonic()
        running.kill(broker.role)
        time.sleep(AWAY_S)
        broker.start()
        return running.accepted_between(killed_at, time.monotonic())


def redis_is_broker(variant: Variant) -> bool:
    """Requests would wait for the broker, which keeps posts too; for RabbitMQ none does."""
    return variant.broker == "redis"


@fault(
    f"The broker is stopped for {FROZEN_S:g} s, with its connections open (SIGSTOP).",
    at_stake="posts accepted meanwhile",
    needs=(on_mysql, with_celery),
    safeguard="refusals",
    control_needs=(redis_is_broker,),
    around=Supervised,
)
def broker_frozen(running: Running, readers: Readers) -> int:
    parents = map(psutil.Process, running.processes.pids(running.service.servers[-1].role))
    family = [one.pid for parent in parents for one in (parent, *parent.children(recursive=True))]
    with readers.held_up(), Crowd(running):
        began = time.monotonic()
        with frozen(family):
            time.sleep(FROZEN_S)
        return running.accepted_between(began, time.monotonic())


def celery_main(running: Running) -> psutil.Process:
    """Return the process of the Celery worker whose children do the work."""
    candidates = map(psutil.Process, running.processes.pids("workers"))
    (main,) = [process for process in candidates if "worker" in process.cmdline()]
    return main


def waiting(running: Running) -> int:
    """Return how many messages wait in the broker."""
    if redis_is_broker(running.service.variant):
        with Redis.from_url(_url(running)) as redis:
            return int(redis.llen(QUEUE))
    with channel(running) as opened:
        return int(opened.queue_declare(QUEUE, passive=True).message_count)


def forget(running: Running) -> None:
    """Remove all messages from the broker."""
    if redis_is_broker(running.service.variant):
        with Redis.from_url(_url(running)) as redis:
            redis.flushdb()
        return
    with channel(running) as opened:
        opened.queue_purge(QUEUE)


@contextmanager
def channel(running: Running) -> Iterator[Any]:
    with Connection(urlsplit(_url(running)).netloc.partition("@")[2]) as connection:
        yield connection.channel()


def _url(running: Running) -> str:
    return running.service.environments[0]["BROKER_URL"]

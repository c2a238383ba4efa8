"""Celery's workers die, and its broker dies or stops answering."""

import os
import signal
import time
from contextlib import AbstractContextManager

import psutil

from lab.faults.fault import fault, on_server, with_celery
from lab.faults.readers import PENDING, Readers
from lab.faults.redis import FROZEN_S, crowd
from lab.faults.running import Running, kill_when, repeated
from lab.faults.workers import in_flight
from launch.processes import frozen
from launch.variants import Variant

AWAY_S = 2.0


@fault(
    "The Celery worker is killed with all its processes, one of them in its transaction.",
    at_stake="posts in flight",
    needs=(on_server, with_celery),
    safeguard="receipts",
    refuses=False,
)
def celery_worker_killed(running: Running, readers: Readers) -> int:
    main = celery_main(running)
    kill_when(lambda: [child.pid for child in main.children()], in_flight(running))
    for process in (main, *main.children()):
        os.kill(process.pid, signal.SIGKILL)
    lost = running.query(PENDING)
    time.sleep(0.5)
    running.replace_drainers()
    return lost


def supervised(running: Running) -> AbstractContextManager[None]:
    """Restart the workers if one ends while the block runs, as compose does.

    A worker survives without its broker unless that vanishes during a task: closing the channel
    then calls the broker once more, and kombu 5.7 fails there with an AttributeError. It may end
    only when the broker has been back for a second.
    """

    def supervise() -> None:
        if running.processes.have_ended("workers"):
            running.replace_drainers()

    return repeated(supervise, every_s=0.2)


@fault(
    f"The broker is killed, and starts again after {AWAY_S:g} s.",
    at_stake="posts accepted meanwhile",
    needs=(on_server, with_celery),
    safeguard="sweeps",
    around=supervised,
)
def broker_killed(running: Running, readers: Readers) -> int:
    broker = running.service.servers[-1]
    killed_at = time.monotonic()
    running.processes.kill(broker.role)
    time.sleep(AWAY_S)
    broker.start()
    return running.accepted_between(killed_at, time.monotonic())


def redis_is_broker(variant: Variant) -> bool:
    """Requests would wait for the broker, which keeps posts too; for RabbitMQ none does."""
    return variant.broker == "redis"


@fault(
    f"The broker is stopped for {FROZEN_S:g} s, with its connections open (SIGSTOP).",
    at_stake="posts accepted meanwhile",
    needs=(on_server, with_celery),
    safeguard="refusals",
    control_needs=(redis_is_broker,),
    around=supervised,
)
def broker_frozen(running: Running, readers: Readers) -> int:
    brokers = running.processes.pids(running.service.servers[-1].role)
    with crowd(running):
        began = time.monotonic()
        with frozen(brokers):
            time.sleep(FROZEN_S)
        return running.accepted_between(began, time.monotonic())


def celery_main(running: Running) -> psutil.Process:
    """Return the process of the Celery worker whose children do the work."""
    candidates = map(psutil.Process, running.processes.pids("workers"))
    (main,) = [process for process in candidates if "worker" in process.cmdline()]
    return main

"""The queue's workers die, and its broker dies or stops answering."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial

from lab.faults.fault import fault, on_server, with_broker, with_queue
from lab.faults.readers import PENDING, Readers
from lab.faults.redis import FROZEN_S, freeze
from lab.faults.running import Running, freeze_when, wait_for
from lab.faults.workers import in_flight
from lab.running.threads import repeated
from launch.servers.base import Server
from launch.variants import Variant

AWAY_S = 2.0
REACT_S = 0.5
"""Time in which workers act upon a signal."""


def broker_of(running: Running) -> Server:
    """Return the server that has the messages: the broker, or the database."""
    broker = running.service.servers[-1]
    assert isinstance(broker, Server)
    return broker


def supervised(running: Running) -> AbstractContextManager[None]:
    """Start the workers again if one ends while the block runs, as compose does.

    Celery's survives without its broker unless that vanishes during a task: closing the channel
    then calls the broker once more, and kombu 5.7 fails there with an AttributeError. It may end
    only when the broker has been back for a second.
    """
    return repeated(running.service.revive_workers, every_s=0.2)


@contextmanager
def started_again(running: Running) -> Iterator[None]:
    """Wait, after the block, until the workers that ended in it were started again."""
    before = running.service.restarts
    yield
    wait_for(lambda: running.service.restarts > before)


def terminate(running: Running, stopped: int) -> None:
    """Ask the workers to end, one of whose processes is stopped, and let that go on."""
    with started_again(running):
        for parent in running.processes.pids("workers"):
            os.kill(parent, signal.SIGTERM)
        time.sleep(REACT_S)
        os.kill(stopped, signal.SIGCONT)


def _stopped(running: Running) -> tuple[int, int]:
    """Stop a worker in its transaction; return its process, and how many posts are pending."""
    pid = freeze_when(running, "workers", in_flight(running))
    return pid, running.query(PENDING)


worker_fault = partial(
    fault, at_stake="posts in flight", needs=(on_server, with_queue), refuses=False
)


@worker_fault(
    "A process of the queue's workers is killed in its transaction.",
    safeguard="receipts",
    around=supervised,
)
def queue_child_killed(running: Running, readers: Readers) -> int:
    pid, lost = _stopped(running)
    os.kill(pid, signal.SIGKILL)
    return lost


@worker_fault(
    "The queue's workers are killed with all their processes, one of them in its transaction.",
    safeguard="receipts",
)
def queue_worker_killed(running: Running, readers: Readers) -> int:
    _, lost = _stopped(running)
    running.processes.kill("workers")
    time.sleep(REACT_S)
    running.service.start_workers()
    return lost


@worker_fault(
    "The queue's workers are asked to end (SIGTERM), one of them in its transaction.",
    no_control="most queues let their workers finish, and then nothing is harmed",
    around=supervised,
)
def queue_worker_terminated(running: Running, readers: Readers) -> int:
    pid, lost = _stopped(running)
    terminate(running, pid)
    return lost


@fault(
    f"The broker is killed, and starts again after {AWAY_S:g} s.",
    at_stake="posts accepted meanwhile",
    needs=(on_server, with_broker),
    safeguard="sweeps",
    around=supervised,
)
def broker_killed(running: Running, readers: Readers) -> int:
    broker = broker_of(running)
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
    needs=(on_server, with_broker),
    safeguard="refusals",
    control_needs=(redis_is_broker,),
    around=supervised,
)
def broker_frozen(running: Running, readers: Readers) -> int:
    began = time.monotonic()
    freeze(running, broker_of(running).role)
    return running.accepted_between(began, time.monotonic())

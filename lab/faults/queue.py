"""The queue's workers die, and its broker dies or stops answering."""

import time
from contextlib import AbstractContextManager

from lab.faults.fault import fault, on_server, with_broker, with_queue
from lab.faults.readers import PENDING, Readers
from lab.faults.redis import FROZEN_S, crowd
from lab.faults.running import Running, kill_when, repeated
from lab.faults.workers import in_flight
from launch.processes import frozen
from launch.servers.base import Server
from launch.variants import Variant

AWAY_S = 2.0


@fault(
    "The queue's workers are killed with all their processes, one of them in its transaction.",
    at_stake="posts in flight",
    needs=(on_server, with_queue),
    safeguard="receipts",
    refuses=False,
)
def queue_worker_killed(running: Running, readers: Readers) -> int:
    kill_when(lambda: running.workers_of("workers"), in_flight(running))
    running.processes.kill("workers")
    lost = running.query(PENDING)
    time.sleep(0.5)
    running.service.start_workers()
    return lost


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
    brokers = running.processes.pids(broker_of(running).role)
    with crowd(running):
        began = time.monotonic()
        with frozen(brokers):
            time.sleep(FROZEN_S)
        return running.accepted_between(began, time.monotonic())

"""A broker that dies, or stops answering."""

import time

import psutil

from lab.faults.catalogue.celery import AWAY_S, BrokerFault
from lab.faults.catalogue.redis_server import FROZEN_S, Crowd
from lab.faults.readers import Readers
from lab.faults.running import Running, frozen
from launch.variants import Variant


class BrokerKilled(BrokerFault):
    name = "broker-killed"
    text = f"The broker is killed, and starts again after {AWAY_S:g} s."

    def inject(self, running: Running, readers: Readers) -> int:
        broker = running.service.servers[-1]
        with readers.held_up():
            killed_at = time.monotonic()
            running.kill(broker.role)
            time.sleep(AWAY_S)
            broker.start()
            return running.accepted_between(killed_at, time.monotonic())


class BrokerFrozen(BrokerFault):
    name = "broker-frozen"
    text = f"The broker is stopped for {FROZEN_S:g} s, with its connections open (SIGSTOP)."
    safeguard = "refusals"

    def has_control(self, variant: Variant) -> bool:
        """A Redis keeps posts too, for which requests would wait; for RabbitMQ none does."""
        return variant.broker == "redis"

    def inject(self, running: Running, readers: Readers) -> int:
        role = running.service.servers[-1].role
        parents = [psutil.Process(pid) for pid in running.processes.pids(role)]
        family = [it.pid for one in parents for it in (one, *one.children(recursive=True))]
        with readers.held_up(), Crowd(running):
            began = time.monotonic()
            with frozen(family):
                time.sleep(FROZEN_S)
            return running.accepted_between(began, time.monotonic())

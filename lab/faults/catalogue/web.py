"""An app server's process that dies in the middle of a request."""

import time
from typing import ClassVar

from lab.faults.base import Fault
from lab.faults.catalogue.drainer import in_flight
from lab.faults.readers import PENDING, Readers
from lab.faults.running import Running, kill_when
from launch.variants import Variant


class Killed(Fault):
    name = "web-worker-killed"
    text = "A process of the app server is killed while it delivers in a request."
    safeguard = "sweeps"
    at_stake = "posts in flight"
    hides_answers: ClassVar[bool] = True

    def suits(self, variant: Variant) -> bool:
        """Only where requests deliver, and so have something to lose."""
        flags = variant.strategy_flags
        return super().suits(variant) and flags.needs_drainer and not flags.needs_shared_store

    def inject(self, running: Running, readers: Readers) -> int:
        # Where post and deliveries are one transaction, nothing is pending outside of it.
        pends = running.service.variant.drains
        hit = in_flight(running) if pends else running.in_transaction
        with readers.held_up():
            workers = len(running.workers_of("web"))
            killed = kill_when(lambda: running.workers_of("web"), hit)
            lost = running.query(PENDING) if pends else 1
            while killed in (now := running.workers_of("web")) or len(now) < workers:
                time.sleep(0.01)  # gunicorn replaces it
        return lost

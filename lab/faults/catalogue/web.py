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
    needs_mysql: ClassVar[bool] = True
    hides_answers: ClassVar[bool] = True

    def suits(self, variant: Variant) -> bool:
        """Only where requests deliver, and so have something to lose."""
        flags = variant.strategy_flags
        in_request = flags.needs_drainer and not flags.needs_shared_store
        return super().suits(variant) and in_request and variant.drains

    def inject(self, running: Running, readers: Readers) -> int:
        with readers.held_up():
            workers = len(running.workers_of("web"))
            killed = kill_when(lambda: running.workers_of("web"), in_flight(running))
            lost = running.query(PENDING)
            while killed in (now := running.workers_of("web")) or len(now) < workers:
                time.sleep(0.01)  # gunicorn replaces it
        return lost

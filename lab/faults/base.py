"""The base class of faults: what a fault declares, and what it does."""

import shutil
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from typing import ClassVar

from lab.faults.readers import Readers
from lab.faults.running import Running
from launch.hosts import unavailable
from launch.variants import Variant


class Fault(ABC):
    """Something that goes wrong with a service under load, and is mended again.

    One instance serves a whole run: it keeps no state of a moment.
    """

    name: ClassVar[str]
    """What ``--loads`` calls it: the part and what happens to it, like redis-emptied."""
    text: ClassVar[str]
    """What happens, in one line of the report."""
    safeguard: ClassVar[str] = ""
    """What ``lab.faults.unguarded`` takes out for the control, which has to find wrong pages,
    deliveries that are missing, duplicated or unexpected, or failures (``moments.failures``)."""
    no_control: ClassVar[str] = ""
    """Why there is no safeguard to take out, where there is none."""
    at_stake: ClassVar[str]
    """Unit of what ``inject`` returns, like "timelines" or "posts in flight"."""
    needs_redis: ClassVar[bool] = False
    """The timelines are in one Redis."""
    needs_cluster: ClassVar[bool] = False
    """The timelines are in a Redis Cluster."""
    needs_hosts: ClassVar[bool] = False
    """It cuts the network of a host (``launch.hosts``)."""
    needs_mysql: ClassVar[bool] = False
    needs_drainer: ClassVar[bool] = False
    """A drainer runs, rather than Celery; it may deliver only what requests leave behind."""
    needs_celery: ClassVar[bool] = False
    program: ClassVar[str | None] = None
    """A program of the machine that it calls."""
    typical_within_s: ClassVar[float] = 0.5
    """Longest median time of the requests that are sent while it lasts: most are refused rather
    than kept waiting."""
    probes_within_s: ClassVar[float] = 7.0
    """Longest time that a health probe may take: without a proxy it may wait until a thread has
    given up on a server (3 s, and 2 s for a new connection)."""
    refuses: ClassVar[bool] = True
    """Requests may be refused while it lasts (503 or 429)."""
    hides_answers: ClassVar[bool] = False
    """Clients may get no answer at all while it lasts, since what would answer is gone."""

    def suits(self, variant: Variant) -> bool:
        """Return whether it can happen to a variant."""
        return not (
            (self.needs_hosts and not variant.on_hosts)
            or (self.needs_redis and not variant.keeps_timelines_in_one_redis)
            or (self.needs_cluster and not variant.primaries)
            or (self.needs_mysql and variant.database.profile is None)
            or (self.needs_drainer and (variant.uses_celery or not variant.drains))
            or (self.needs_celery and not variant.uses_celery)
        )

    def has_control(self, variant: Variant) -> bool:
        """Return whether a variant without the safeguard is harmed."""
        return bool(self.safeguard)

    def unavailable(self) -> str | None:
        """Return why this machine can't do it, as the end of a sentence; None if it can."""
        if self.needs_hosts and (reason := unavailable()):
            return reason
        if self.program and not shutil.which(self.program):
            return f"{self.program} is not installed"
        return None

    def during(self, running: Running) -> AbstractContextManager[object]:
        """Return what surrounds all its moments and the drain, like a supervisor of workers."""
        return nullcontext()

    @abstractmethod
    def inject(self, running: Running, readers: Readers) -> int:
        """Let it happen once, and mend it.

        Returns how much was there to lose, in ``at_stake``; 0 makes the moment void, and the run
        fails. Posts and readers go on meanwhile, unless ``running`` or ``readers`` is told
        otherwise. Raises RunFailed if the moment never came.
        """

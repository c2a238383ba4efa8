"""A release: every process is replaced while requests go on."""

import os
import signal
import sys
import time
from typing import ClassVar

import psutil

from lab.faults.base import Fault
from lab.faults.readers import Readers
from lab.faults.running import Running, frozen, wait_for
from launch.variants import Variant

FROZEN_S = 6.0
NEXT = "workers of the next release"


class Rolling(Fault):
    name = "rolling-restart"
    text = "The app server replaces its processes (SIGHUP), then another drainer takes over."
    no_control = "tests/compose/test_rolling_restart.py has one, behind the proxy"
    at_stake = "requests answered meanwhile"
    hides_answers: ClassVar[bool] = True
    """Without a proxy: what arrives while a process ends is lost."""
    probes_within_s: ClassVar[float] = 8.0
    """gunicorn ends the old processes before the new ones accept: a connection waits for them."""
    needs_mysql: ClassVar[bool] = True

    def suits(self, variant: Variant) -> bool:
        return super().suits(variant) and not variant.uses_celery

    def inject(self, running: Running, readers: Readers) -> int:
        service, processes, before = running.service, running.processes, len(running.answers)
        old = running.workers_of("web")
        for pid in processes.pids("web"):
            os.kill(pid, signal.SIGHUP)
        wait_for(lambda: not set(old) & set(now := running.workers_of("web")) and len(now) > 1)
        if service.variant.drains:
            (env,) = service.environments
            processes.start(NEXT, [sys.executable, "manage.py", "drain"], env)
            (next_one,) = map(psutil.Process, processes.pids(NEXT))
            wait_for(lambda: bool(next_one.net_connections("tcp")))  # it is at work
            service.stop_workers()
            service.start_workers()
            (last_one,) = map(psutil.Process, processes.pids("workers"))
            wait_for(lambda: bool(last_one.net_connections("tcp")))
            processes.stop(NEXT)
        return len(running.answers) - before


class WorkerFrozen(Fault):
    name = "web-worker-frozen"
    text = f"One process of the app server is stopped for {FROZEN_S:g} s (SIGSTOP)."
    no_control = "its clients wait for it, and the others have their own processes"
    at_stake = "requests that waited for it"
    typical_within_s: ClassVar[float] = 0.5
    probes_within_s: ClassVar[float] = FROZEN_S + 2
    """A probe may meet that process."""

    def inject(self, running: Running, readers: Readers) -> int:
        before = len(running.answers)
        with frozen([min(running.workers_of("web"))]):
            time.sleep(FROZEN_S)
        time.sleep(1.0)
        waited = running.answers[before:]
        return sum(it.ended_at - it.begun_at > FROZEN_S / 2 for it in waited)

"""The strategies, timeline stores and queues of the service, with their flags."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from launch.processes import RunFailed

SERVERS = ("DATABASE_URL", "REDIS_URL", "TIMELINE_URL", "BROKER_URL")
"""Not passed on: no server is needed to list the backends, so these may be wrong."""


class Strategy(NamedTuple):
    """The flags of ``feed/strategies/base.py``."""

    purpose: str
    delivers: bool
    needs_shared_store: bool
    needs_partial_delivery: bool
    needs_drainer: bool
    needs_queue: bool
    writes_with_post: bool


class TimelineStore(NamedTuple):
    """The flags of ``feed/timeline_stores/base.py``."""

    purpose: str
    is_transactional: bool
    is_healing: bool
    is_computed_on_read: bool
    accepts_partial_delivery: bool
    takes_loads: bool
    needs_redis: bool


class Queue(NamedTuple):
    """The flags of ``workers/queues/base.py``."""

    purpose: str
    brokers: Sequence[str]
    is_at_least_once: bool
    is_transactional: bool
    needs_postgresql: bool
    needs_supervisor: bool


class Backends(NamedTuple):
    """By alias, in the order of the settings."""

    strategies: Mapping[str, Strategy]
    timeline_stores: Mapping[str, TimelineStore]
    queues: Mapping[str, Queue]


@cache
def backends() -> Backends:
    """Ask the service once (about a second). Raises RunFailed if it can't start."""
    command = [sys.executable, "manage.py", "list_backends", "--json", "--skip-checks"]
    env = {name: value for name, value in os.environ.items() if name not in SERVERS}
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    if done.returncode:
        last = (done.stderr.strip() or "no output").splitlines()[-1]
        raise RunFailed(f"the service doesn't start: {last} ({sys.executable} manage.py check)")
    listed = json.loads(done.stdout)
    return Backends(
        {alias: Strategy(**flags) for alias, flags in listed["strategies"].items()},
        {alias: TimelineStore(**flags) for alias, flags in listed["timeline_stores"].items()},
        {alias: Queue(**flags) for alias, flags in listed["queues"].items()},
    )

"""The servers of a bench: one seeded database of each kind, and a fresh Redis per target.

And the measurements of a benched process, with the CPU time that its server used meanwhile.
"""

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from lab.bench.targets import Grid, Target
from lab.progress import Advance
from launch.processes import Processes, RunFailed
from launch.servers.redis import Cluster, Redis
from launch.service import Service
from launch.variants import Variant

ROLE = "bench"


class Site:
    """Private servers in a folder."""

    def __init__(self, processes: Processes, folder: Path, grid: Grid) -> None:
        self.processes = processes
        self.folder = folder
        self.grid = grid
        self.versions: dict[str, str] = {}
        self._services: dict[str, Service] = {}

    def prepare(self, databases: Iterable[str], advance: Advance) -> None:
        """Start and seed databases, named as in variants."""
        for name in databases:
            advance(f"seed {name}")
            folder = self.folder / name
            folder.mkdir()
            service = Service(Variant.plain(name, name, {}), self.processes, folder)
            for server in service.servers:
                server.role = name  # two databases run: the CPU of each is counted apart
                server.start()
            people = self.grid.arguments("people", "friends")
            service.seed(
                [("migrate", "--verbosity=0"), ("seed_bench", *people)], _with_bench(service)
            )
            self._services[name] = service
            versions = service.versions()
            self.versions[name] = versions.get(name, versions["database"])

    @contextmanager
    def serving(self, target: Target) -> Iterator[dict[str, str]]:
        """Yield the service's environment for a target; its Redis ends with the block."""
        service = self._services[target.people_in]
        env = _with_bench(service) | {"FEED_TIMELINE_STORE": target.store}
        with self._redis_for(target) as redis:
            env |= redis
            service.manage("begin_epoch", env)
            yield env

    @contextmanager
    def _redis_for(self, target: Target) -> Iterator[Mapping[str, str]]:
        """Run the Redis or the cluster that a target uses, if any; yield its settings."""
        if not target.uses_redis:
            yield {}
            return
        server: Redis | Cluster
        if target.primaries:
            folder = self.folder / f"cluster{target.primaries}"
            server = Cluster(self.processes, folder, "auto", primaries=target.primaries)
        else:
            server = Redis(self.processes, self.folder / "redis", "auto")
        server.start()
        self.versions[server.role] = server.version()
        roles = [node.role for node in server.nodes] if isinstance(server, Cluster) else ["redis"]
        try:
            yield server.environment
        finally:
            for role in roles:
                self.processes.stop(role)


def _with_bench(service: Service) -> dict[str, str]:
    """Return the service's environment, with the management commands of ``bench``."""
    (env,) = service.environments
    return env | {"EXTRA_APPS": f"{os.environ.get('EXTRA_APPS', '')},bench"}


class Measurement(NamedTuple):
    kind: str
    figures: dict[str, Any]
    cpu_s: dict[str, float]
    """Per role, since the timed block began."""


def no_result(processes: Processes) -> RunFailed:
    last = processes.log_tail(ROLE)
    return RunFailed(f"the benchmark process exited without a result: {last}")


def measurements(
    processes: Processes, options: Sequence[str], env: Mapping[str, str]
) -> Iterator[Measurement]:
    """Run bench_timeline and yield its lines as they come.

    A process whose check fails exits with 1, and so does one that crashes: the caller has to look
    for the measurements that it expects.
    """
    before: dict[str, float] = {}
    argv = [sys.executable, "manage.py", "bench_timeline", *options]
    for line in processes.lines(ROLE, argv, env, ok=(0, 1)):
        figures = json.loads(line)
        kind, now = figures.pop("kind"), processes.ran_s()
        if kind == "begin":
            before = now
        else:
            used = {role: cpu_s - before.get(role, 0.0) for role, cpu_s in now.items()}
            yield Measurement(kind, figures, used)

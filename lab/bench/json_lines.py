"""Measurements of a benched process, with the CPU time that its server used meanwhile."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from launch.processes import Processes, RunFailed

ROLE = "bench"


class Measurement(NamedTuple):
    kind: str
    figures: dict[str, Any]
    cpu_s: dict[str, float]
    """Per role, since the timed block began."""


def no_result(processes: Processes) -> RunFailed:
    last = processes.log_tail(ROLE)
    return RunFailed(f"the benchmark process exited without a result: {last}")


def measurements(
    processes: Processes, command: Sequence[str], env: Mapping[str, str]
) -> Iterator[Measurement]:
    """Run a management command and yield its lines as they come.

    A command whose check fails exits with 1, and so does one that crashes: the caller has to look
    for the measurements that it expects.
    """
    before: dict[str, float] = {}
    argv = [sys.executable, "manage.py", *command]
    for line in processes.lines(ROLE, argv, env, ok=(0, 1)):
        figures = json.loads(line)
        kind, now = figures.pop("kind"), processes.ran_s()
        if kind == "begin":
            before = now
        else:
            used = {role: cpu_s - before.get(role, 0.0) for role, cpu_s in now.items()}
            yield Measurement(kind, figures, used)

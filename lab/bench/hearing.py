"""What a benched process of the service tells, and what its server used meanwhile."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from launch.processes import Processes

ROLE = "bench"


class Heard(NamedTuple):
    kind: str
    figures: dict[str, Any]
    cpu_s: dict[str, float]
    """Of each role, since what was timed began."""


def listen(processes: Processes, command: Sequence[str], env: Mapping[str, str]) -> Iterator[Heard]:
    """Run a management command and yield its lines as they come.

    One whose check fails ends with 1; so does one that breaks down, which the caller has to notice
    by what it didn't tell.
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
            yield Heard(kind, figures, used)

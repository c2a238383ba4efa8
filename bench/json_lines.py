"""Measurements as JSON lines on standard output, which the laboratory reads."""

import json
import sys
import time
from typing import Any, Self

BREATH_S = 0.03
"""Time for the laboratory to read the CPU clocks of the server's processes."""


def emit(kind: str, **figures: Any) -> None:
    sys.stdout.write(json.dumps({"kind": kind, **figures}) + "\n")
    sys.stdout.flush()


class Timed:
    """Measures the wall time and this process's CPU time of a block; emits that it begins."""

    wall_s: float
    client_s: float

    def __enter__(self) -> Self:
        emit("begin")
        time.sleep(BREATH_S)
        self._cpu, self._wall = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *args: object) -> None:
        self.wall_s = time.perf_counter() - self._wall
        self.client_s = time.process_time() - self._cpu

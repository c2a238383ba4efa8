"""What a benched process tells the laboratory: JSON, an object a line."""

import json
import sys
import time
from typing import Any, Self

BREATH_S = 0.03
"""In which the laboratory reads the clocks of the server's processes."""


def tell(kind: str, **figures: Any) -> None:
    sys.stdout.write(json.dumps({"kind": kind, **figures}) + "\n")
    sys.stdout.flush()


class Timed:
    """The wall time and this process's CPU time of a block; that it begins is told."""

    wall_s: float
    client_s: float

    def __enter__(self) -> Self:
        tell("begin")
        time.sleep(BREATH_S)
        self._cpu, self._wall = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *args: object) -> None:
        self.wall_s = time.perf_counter() - self._wall
        self.client_s = time.process_time() - self._cpu

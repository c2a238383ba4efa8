"""CPU seconds by role over time, sampled beside a run."""

import time
from collections.abc import Callable
from threading import Event, Thread
from types import TracebackType
from typing import Self

import numpy as np

SAMPLE_EVERY_S = 0.25


class Sampler:
    """Calls ``cpu_s`` (role → CPU seconds so far) in a thread while its block runs."""

    def __init__(self, cpu_s: Callable[[], dict[str, float]]) -> None:
        self._cpu_s = cpu_s
        self._samples: list[tuple[float, dict[str, float]]] = []
        self._stopping = Event()
        self._thread = Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stopping.set()
        self._thread.join()

    def used_s(self, role: str, start: float, end: float) -> float:
        """Return the CPU seconds that a role used between two Unix times."""
        times = [at for at, _ in self._samples]
        used = [sample.get(role, 0.0) for _, sample in self._samples]
        if not times:
            return 0.0
        return float(np.interp(end, times, used) - np.interp(start, times, used))

    def _run(self) -> None:
        while not self._stopping.wait(SAMPLE_EVERY_S):
            self._samples.append((time.time(), self._cpu_s()))

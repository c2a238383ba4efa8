"""What the processes of each role use, sampled beside a run."""

import time
from threading import Event, Thread
from types import TracebackType
from typing import Self

import numpy as np

from lab.processes import Processes

CPU_EVERY_S = 0.25
MEMORY_EVERY_S = 5.0
"""Rarely: walking the pages of a large process takes milliseconds."""


class Sampler:
    """Looks at the processes from a thread while its block runs."""

    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self._cpu: list[tuple[float, dict[str, float]]] = []
        self._memory: list[dict[str, float]] = []
        self._stopping = Event()
        self._threads = [
            Thread(target=look, daemon=True) for look in (self._look_at_cpu, self._look_at_memory)
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def cpu_s(self, role: str, start: float, end: float) -> float:
        """Return the CPU seconds that a role used between two Unix times."""
        times = [at for at, _ in self._cpu]
        used = [sample.get(role, 0.0) for _, sample in self._cpu]
        if not times:
            return 0.0
        return float(np.interp(end, times, used) - np.interp(start, times, used))

    def memory_mib(self, role: str) -> float:
        """Return the most that a role had at a time."""
        return max((sample.get(role, 0.0) for sample in self._memory), default=0.0)

    def _look_at_cpu(self) -> None:
        while not self._stopping.wait(CPU_EVERY_S):
            self._cpu.append((time.time(), self._processes.cpu_s()))

    def _look_at_memory(self) -> None:
        while not self._stopping.wait(MEMORY_EVERY_S):
            self._memory.append(self._processes.memory_mib())

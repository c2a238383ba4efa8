"""CPU and memory of the processes of each role, sampled during a run."""

import time
from collections.abc import Sequence
from threading import Event, Thread
from types import TracebackType
from typing import Self

import numpy as np
import psutil

from launch.processes import Processes

CPU_EVERY_S = 0.25
MACHINE = "machine"
MEMORY_EVERY_S = 5.0
"""Rarely: walking the pages of a large process takes milliseconds."""


class Sampler:
    """Looks at the processes from a thread while its block runs."""

    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self._cpu: list[tuple[float, dict[str, float]]] = []
        self._wanted: list[tuple[float, dict[str, float]]] = []
        self._busy: list[tuple[float, dict[str, float]]] = []
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
        return _grown(self._cpu, role, start, end)

    def busy_s(self, start: float, end: float) -> float:
        """Return the CPU seconds that the machine was busy between two Unix times."""
        return _grown(self._busy, MACHINE, start, end)

    def wanted_s(self, role: str, start: float, end: float) -> float:
        """Return the seconds that a role ran or waited for a core between two Unix times."""
        return _grown(self._wanted, role, start, end)

    def memory_mib(self, role: str) -> float:
        """Return the peak memory of a role."""
        return max((sample.get(role, 0.0) for sample in self._memory), default=0.0)

    def _look_at_cpu(self) -> None:
        while not self._stopping.wait(CPU_EVERY_S):
            self._cpu.append((time.time(), self._processes.cpu_s()))
            self._wanted.append((time.time(), self._processes.wanted_s()))
            self._busy.append((time.time(), {MACHINE: _busy_s()}))

    def _look_at_memory(self) -> None:
        while not self._stopping.wait(MEMORY_EVERY_S):
            self._memory.append(self._processes.memory_mib())


def _grown(
    samples: Sequence[tuple[float, dict[str, float]]], role: str, start: float, end: float
) -> float:
    """Return by how much a counter of a role grew between two Unix times.

    A process that ends takes its count along, so the counter is held at the most it had.
    """
    if not samples:
        return 0.0
    times = [at for at, _ in samples]
    counts = np.maximum.accumulate([sample.get(role, 0.0) for _, sample in samples])
    return float(np.interp(end, times, counts) - np.interp(start, times, counts))


def _busy_s() -> float:
    """Return the CPU seconds of all cores so far, without idling, waiting and what was stolen."""
    times = psutil.cpu_times()
    return float(times.user + times.nice + times.system + times.irq + times.softirq)

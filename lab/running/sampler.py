"""CPU and memory of the processes of each role, sampled during a run."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import psutil

from lab.running.threads import repeated
from launch.processes import Processes

CPU_EVERY_S = 0.25
MEMORY_EVERY_S = 5.0
"""Rarely: walking the pages of a large process takes milliseconds."""


class Sample(NamedTuple):
    """Counters so far, at a Unix time; the first two by role, the others of all cores."""

    at: float
    cpu_s: dict[str, float]
    wanted_s: dict[str, float]
    busy_s: float
    stolen_s: float


class Sampler:
    """What was sampled of the processes."""

    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self._samples: list[Sample] = []
        self._memory: list[dict[str, float]] = []

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Look at the processes while the block runs. Raises RunFailed at its end."""
        with (
            repeated(self._look_at_cpu, every_s=CPU_EVERY_S),
            repeated(self._look_at_memory, every_s=MEMORY_EVERY_S),
        ):
            yield

    def cpu_s(self, role: str, start: float, end: float) -> float:
        """Return the CPU seconds that a role used between two Unix times."""
        return self._grown([sample.cpu_s.get(role, 0.0) for sample in self._samples], start, end)

    def wanted_s(self, role: str, start: float, end: float) -> float:
        """Return the seconds that a role ran or waited for a core between two Unix times."""
        return self._grown([sample.wanted_s.get(role, 0.0) for sample in self._samples], start, end)

    def busy_s(self, start: float, end: float) -> float:
        """Return the CPU seconds that the machine was busy between two Unix times."""
        return self._grown([sample.busy_s for sample in self._samples], start, end)

    def stolen_s(self, start: float, end: float) -> float:
        """Return the CPU seconds that the host gave to others between two Unix times."""
        return self._grown([sample.stolen_s for sample in self._samples], start, end)

    def memory_mib(self, role: str) -> float:
        """Return the peak memory of a role."""
        return max((sample.get(role, 0.0) for sample in self._memory), default=0.0)

    def _grown(self, counts: Sequence[float], start: float, end: float) -> float:
        """Return by how much a counter grew between two Unix times.

        A process that ends takes its count along, so the counter is held at the most it had.
        """
        if not counts:
            return 0.0
        times, most = [sample.at for sample in self._samples], np.maximum.accumulate(counts)
        return float(np.interp(end, times, most) - np.interp(start, times, most))

    def _look_at_cpu(self) -> None:
        cpu_s, wanted_s = self._processes.cpu_s(), self._processes.wanted_s()
        self._samples.append(Sample(time.time(), cpu_s, wanted_s, *_busy_and_stolen_s()))

    def _look_at_memory(self) -> None:
        self._memory.append(self._processes.memory_mib())


def _busy_and_stolen_s() -> tuple[float, float]:
    """Return the CPU seconds of all cores so far, without idling and waiting; and those stolen."""
    times = psutil.cpu_times()
    return times.user + times.nice + times.system + times.irq + times.softirq, times.steal

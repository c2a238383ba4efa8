"""How fast the machine is at the moment; a virtual one has noisy neighbours (CPU steal)."""

import os
import subprocess
import sys
from statistics import median

WORK = """
import time
for _ in range(5):
    started = time.perf_counter()
    for step in range(1_000_000):
        pass
    print((time.perf_counter() - started) * 1000)
"""


def calibration_ms() -> float:
    """Return the milliseconds for a fixed piece of Python while every core does the same.

    Compare it between runs: figures of two runs that differ by it say little about the variants.
    """
    workers = [
        subprocess.Popen((sys.executable, "-c", WORK), stdout=subprocess.PIPE, text=True)
        for _ in range(os.cpu_count() or 1)
    ]
    took = [float(ms) for worker in workers for ms in worker.communicate()[0].split()]
    return round(median(took), 1)

"""The delivery engine alone, every store in one run: ``python -m lab bench``."""

from lab.bench.run import bench

__all__ = ["bench"]

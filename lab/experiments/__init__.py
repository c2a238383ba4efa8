"""The experiments: every folder or module here, and in the folders that LAB_EXPERIMENTS names.

A folder holds what belongs to one bottleneck: the experiment and its check, how it is presented,
the published figures and their replay, and its lesson.
"""

import os
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from lab.experiments.base import Experiment

__path__ += filter(None, os.environ.get("LAB_EXPERIMENTS", "").split(os.pathsep))
MISSING = [folder for folder in __path__ if not Path(folder).is_dir()]


def _found() -> Iterator[Experiment]:
    """Yield every named subclass of Experiment, where it is defined."""
    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        for it in vars(import_module(module.name)).values():
            is_here = isinstance(it, type) and it.__module__ == module.name
            if is_here and issubclass(it, Experiment) and "name" in vars(it):
                yield it()


EXPERIMENTS: dict[str, Experiment] = {
    it.name: it for it in sorted(_found(), key=lambda it: it.name)
}

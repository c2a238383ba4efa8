"""The experiments: every module or folder here, and in the folders that LAB_EXPERIMENTS names."""

import os
import pkgutil
from collections.abc import Iterator
from importlib import import_module

from lab.experiments.base import Experiment

__path__ += filter(None, os.environ.get("LAB_EXPERIMENTS", "").split(os.pathsep))


def _found() -> Iterator[Experiment]:
    """Yield every named subclass of Experiment, where it is defined."""
    for module in pkgutil.iter_modules(__path__):
        name = f"{__name__}.{module.name}"
        for it in vars(import_module(name)).values():
            is_here = isinstance(it, type) and it.__module__ == name
            if is_here and issubclass(it, Experiment) and "name" in vars(it):
                yield it()


EXPERIMENTS: dict[str, Experiment] = {experiment.name: experiment for experiment in _found()}

"""The faults: every module here, and in the folders that LAB_FAULTS names."""

import os
import pkgutil
from collections.abc import Iterator
from importlib import import_module

from lab.faults.base import Fault

__path__ += filter(None, os.environ.get("LAB_FAULTS", "").split(os.pathsep))


def _found() -> Iterator[Fault]:
    """Yield every named subclass of Fault, where it is defined."""
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        for it in vars(import_module(module.name)).values():
            is_here = isinstance(it, type) and it.__module__ == module.name
            if is_here and issubclass(it, Fault) and "name" in vars(it):
                yield it()


FAULTS: dict[str, Fault] = {it.name: it for it in sorted(_found(), key=lambda it: it.name)}

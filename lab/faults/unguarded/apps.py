"""Takes safeguards out of the service: the controls of the faults."""

import pkgutil
from importlib import import_module
from pathlib import Path

from django.apps import AppConfig


class Unguarded(AppConfig):
    """Imports every module of the folder ``lacking``: each replaces a part of the service."""

    name = "lab.faults.unguarded"

    def ready(self) -> None:
        folder = Path(__file__).parent / "lacking"
        for module in pkgutil.iter_modules([str(folder)]):
            import_module(f"{self.name}.lacking.{module.name}")

"""Takes safeguards out of the service: the controls of the faults."""

from importlib import import_module

from django.apps import AppConfig


class Unguarded(AppConfig):
    name = "lab.faults.unguarded"

    def ready(self) -> None:
        """Replace parts of the service, which can be imported only when all apps are loaded."""
        import_module(f"{self.name}.lacking")

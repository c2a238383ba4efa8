from importlib import import_module

from django.apps import AppConfig


class WorkersConfig(AppConfig):
    name = "workers"

    def ready(self) -> None:
        import_module("workers.checks")  # registers them

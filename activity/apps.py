from importlib import import_module

from django.apps import AppConfig

from accounts.erasure import erasers


class ActivityConfig(AppConfig):
    name = "activity"

    def ready(self) -> None:
        erasers.append(import_module("activity.services").erase)

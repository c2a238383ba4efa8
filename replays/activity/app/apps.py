from importlib import import_module

from django.apps import AppConfig

from accounts.erasure import erasers


class ActivityConfig(AppConfig):
    name = "replays.activity.app"
    label = "activity"

    def ready(self) -> None:
        erasers.append(import_module("replays.activity.app.services").erase)

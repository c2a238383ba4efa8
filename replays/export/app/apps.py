import sys
from importlib import import_module

from django.apps import AppConfig
from django.conf import settings

from accounts.erasure import erasers


class ExportsConfig(AppConfig):
    name = "replays.export.app"
    label = "exports"

    def ready(self) -> None:
        sys.setswitchinterval(settings.WEB_SWITCH_MS / 1000)  # forked processes have it too
        import_module(f"{self.name}.withdrawal")  # connects its receivers
        erasers.append(import_module(f"{self.name}.services").remove_exports)

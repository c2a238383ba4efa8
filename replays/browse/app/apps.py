from importlib import import_module

from django.apps import AppConfig

from accounts.erasure import erasers


class BrowseConfig(AppConfig):
    name = "replays.browse.app"
    label = "browse"

    def ready(self) -> None:
        import_module(f"{self.name}.checks")  # registers them
        erasers.append(import_module(f"{self.name}.likes").unlike_everything)

from importlib import import_module

from django.apps import AppConfig


class FeedConfig(AppConfig):
    name = "feed"

    def ready(self) -> None:
        import_module("feed.checks")  # registers them

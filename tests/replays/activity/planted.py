"""Replaces good queries by faulty ones."""

from django.apps import AppConfig
from django.conf import settings


class Planted(AppConfig):
    name = "tests.replays.activity"
    label = "planted"

    def ready(self):
        settings.ACTIVITY_IMPLEMENTATIONS["indexed"]["BACKEND"] = (
            "tests.replays.activity.wrong.Forgetful"
        )

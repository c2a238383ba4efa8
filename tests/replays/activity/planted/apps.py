from django.apps import AppConfig
from django.conf import settings


class Planted(AppConfig):
    """Replaces good queries by faulty ones."""

    name = "tests.replays.activity.planted"

    def ready(self):
        settings.ACTIVITY_IMPLEMENTATIONS["indexed"]["BACKEND"] = (
            "tests.replays.activity.wrong.Forgetful"
        )

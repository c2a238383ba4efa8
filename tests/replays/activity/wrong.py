"""Queries with a planted fault."""

from django.apps import AppConfig
from django.conf import settings

from replays.activity.app.queries.best import Best
from replays.activity.app.queries.fewer import FewerQueries


class Forgetful(FewerQueries):
    """Ignores the log before a period, so visits that cross midnight are lost."""

    def before(self, person_id, period):
        return []


class Miscounting(Best):
    def inside_now(self):
        return super().inside_now() + 1


class Planted(AppConfig):
    """Replaces good queries by faulty ones."""

    name = "tests.replays.activity"
    label = "planted"

    def ready(self):
        settings.ACTIVITY_IMPLEMENTATIONS["indexed"]["BACKEND"] = f"{__name__}.Forgetful"

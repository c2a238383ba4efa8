"""Timelines that end after their first page: the control of the check of exports."""

from django.apps import AppConfig
from django.conf import settings


class CutShort(AppConfig):
    name = "tests.replays.export"
    label = "cut_short"

    def ready(self):
        settings.FEED_TIMELINE_STORES["setbased"]["BACKEND"] = "tests.lab.planted.stores.CutShort"

"""Checks and preparations before an app server starts."""

import os
from pathlib import Path

import django
from django.db import connections

from config import settings
from metrics.files import start_afresh
from runtime.command_line import run_checks


def prepare() -> None:
    """Run the system checks, and exit if they fail; start new metrics. Opens no connection."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    run_checks(databases=["default"])
    if settings.HTTPS:
        run_checks(tags=["security"], deploy=True, fail_level="WARNING")
    if settings.METRICS_DIR:
        start_afresh(Path(settings.METRICS_DIR))
    connections.close_all()  # none may be shared with the processes that serve

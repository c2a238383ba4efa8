"""The Celery application: ``celery -A workers worker``."""

import os
from typing import Any

from celery import Celery
from celery.signals import worker_init, worker_ready

from metrics.scrape import serve_if_configured
from runtime.command_line import run_checks

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("workers")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["workers"])


@worker_init.connect
def refuse_to_start(**kwargs: Any) -> None:
    """Don't start if the system checks fail; Celery alone only prints them."""
    run_checks()


@worker_ready.connect
def serve_metrics(**kwargs: Any) -> None:
    """Start the metrics thread after the pool has forked, so that no child inherits its locks."""
    serve_if_configured()

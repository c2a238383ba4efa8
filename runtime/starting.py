"""System checks for gunicorn and Celery, as management commands run them."""

import sys
from typing import Any

from django.core.management import call_command
from django.core.management.base import SystemCheckError


def run_checks(**options: Any) -> None:
    """Run the system checks; exit with their message if there is an error."""
    try:
        call_command("check", **options)
    except SystemCheckError as error:
        sys.exit(str(error))

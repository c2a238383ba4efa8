"""What processes that aren't management commands do before they start."""

import sys
from typing import Any

from django.core.management import call_command
from django.core.management.base import SystemCheckError


def run_checks(**options: Any) -> None:
    """Run the system checks. End the process with what they found, if that is an error."""
    try:
        call_command("check", **options)
    except SystemCheckError as error:
        sys.exit(str(error))

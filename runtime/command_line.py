"""How processes begin, and what they say when settings are wrong or servers are away."""

import os
import sys
from collections.abc import Sequence
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command, execute_from_command_line
from django.core.management.base import SystemCheckError
from django.db import OperationalError, ProgrammingError
from redis.exceptions import RedisError

TRACEBACK = "--traceback"
LONG = ("migrate", "seed_")
LONG_WAITS_S = 24 * 3600
"""For a statement of those: an index of many rows takes long, and PostgreSQL's COMMIT of many."""


def run(argv: Sequence[str]) -> None:
    """Run a management command; exit with a line of advice, or with a traceback if asked for."""
    if argv[1:] and argv[1].startswith(LONG):
        os.environ.setdefault("DB_READ_TIMEOUT_S", str(LONG_WAITS_S))
    try:
        execute_from_command_line(list(argv))
    except (ImproperlyConfigured, OperationalError, ProgrammingError, RedisError) as error:
        if TRACEBACK in argv:
            raise
        sys.exit(f"{' '.join(argv[:2])}: {_advice(error)} ({TRACEBACK} shows where it happened)")


def run_checks(**options: Any) -> None:
    """Run the system checks, as management commands do; exit with what is wrong."""
    try:
        call_command("check", **options)
    except SystemCheckError as error:
        sys.exit(str(error))


def _advice(error: Exception) -> str:
    if isinstance(error, RedisError):
        return f"Redis: {error}; is it running, and are REDIS_URL and TIMELINE_URL right?"
    if isinstance(error, ImproperlyConfigured):
        return str(error)
    return f"the database: {error}; is DATABASE_URL right, and did manage.py migrate run?"

"""What manage.py says when settings are wrong or servers are away: one line, with what to do."""

import sys
from collections.abc import Sequence

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import OperationalError, ProgrammingError
from redis.exceptions import RedisError

TRACEBACK = "--traceback"


def run(argv: Sequence[str]) -> None:
    """Run a management command; exit with a line instead of a traceback, unless it is asked for."""
    try:
        execute_from_command_line(list(argv))
    except (ImproperlyConfigured, OperationalError, ProgrammingError, RedisError) as error:
        if TRACEBACK in argv:
            raise
        sys.exit(f"{' '.join(argv[:2])}: {_advice(error)} ({TRACEBACK} shows where it happened)")


def _advice(error: Exception) -> str:
    if isinstance(error, RedisError):
        return f"Redis: {error}; is it running, and are REDIS_URL and TIMELINE_URL right?"
    if isinstance(error, ImproperlyConfigured):
        return str(error)
    return f"the database: {error}; is DATABASE_URL right, and did manage.py migrate run?"

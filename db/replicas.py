"""Reading from replicas: safe requests read from a replica that has their client's writes.

The positions are MariaDB's global transaction ids (feed.E003 refuses other servers). Commands,
drainers and Celery read from the primary: they change what they have read.
"""

import logging
import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial
from typing import Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections

CATCH_UP_WITHIN_S = 0.05
"""Seconds that a read waits for a replica to catch up; then it goes to the primary."""
POSITION = re.compile(r"\d+-\d+-\d+(,\d+-\d+-\d+)*", re.ASCII)
NO_POSITION = "unknown"
logger = logging.getLogger(__name__)
_choose_once: ContextVar[Callable[[], str]] = ContextVar("choice", default=lambda: DEFAULT_DB_ALIAS)
"""Called at a request's first read, so that a request without one waits for nothing."""


class Router:
    """Django's DATABASE_ROUTERS: reads go to the chosen replica, everything else to the primary."""

    def db_for_read(self, model: Any, **hints: Any) -> str:
        return _choose_once.get()()

    def db_for_write(self, model: Any, **hints: Any) -> str:
        return DEFAULT_DB_ALIAS

    def allow_relation(self, one: Any, other: Any, **hints: Any) -> bool:
        return True

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return db == DEFAULT_DB_ALIAS


@contextmanager
def reading(after: str | None) -> Iterator[None]:
    """Read from a replica, if there is one that has reached the position ``after``."""
    token = _choose_once.set(cache(partial(_choose, after)))
    try:
        yield
    finally:
        _choose_once.reset(token)


def primary_position() -> str:
    """Return a position that includes everything committed so far."""
    if not settings.REPLICAS:
        return NO_POSITION
    try:
        return str(_value(DEFAULT_DB_ALIAS, "SELECT @@gtid_binlog_pos"))
    except DatabaseError as error:  # the write is committed in any case
        logger.warning("no position: %s", error)
        return NO_POSITION


def _choose(after: str | None) -> str:
    replica: str = random.choice(settings.REPLICAS)  # noqa: S311
    try:
        if after is None:
            connections[replica].ensure_connection()
            return replica
        if POSITION.fullmatch(after) and _has_reached(replica, after):
            return replica
    except DatabaseError as error:
        logger.warning("%s is left out: %s", replica, error)
    return DEFAULT_DB_ALIAS


def _has_reached(replica: str, position: str) -> bool:
    wait = "SELECT MASTER_GTID_WAIT(%s, %s)"
    return bool(_value(replica, wait, position, CATCH_UP_WITHIN_S) == 0)


def _value(alias: str, sql: str, *parameters: Any) -> Any:
    with connections[alias].cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchone()[0]

"""Limits on how often something is done, and leases, counted in the database.

All processes share them, and they are exact under parallel requests: one conditional UPDATE
decides. A refusal only reads. Call these outside of transactions, which would hold the row's lock.
See docs/decisions/0006-tokens-limits-usernames.md.

A limit is one number per key (GCRA, https://brandur.org/rate-limiting): the time at which the
key's whole burst is free again. Each use moves it by one interval.
"""

import hashlib
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import NamedTuple

from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.models import F, QuerySet, Value
from django.db.models.functions import Greatest
from rest_framework.exceptions import Throttled

from accounts.models import MAX_LIMIT_CHARACTERS, Limit
from db.rows import delete_first

EXPIRED_AFTER_MS = 60_000
RELEASED_SOON_S = 5.0


class Limited(Throttled):
    """A limit is reached; the API answers 429 with Retry-After."""

    def __init__(self, retry_after_s: float) -> None:
        super().__init__(wait=retry_after_s)
        self.retry_after_s = retry_after_s


class Use(NamedTuple):
    """One use of a limit: ``burst`` at once, then ``per_s`` per second; 0 for no limit."""

    key: str
    burst: float
    per_s: float


def take(key: str, *, burst: float, per_s: float) -> None:
    """Count one use: ``burst`` at once, then ``per_s`` per second. Raises Limited.

    If either is 0, there is no limit.
    """
    take_all([Use(key, burst, per_s)])


def take_all(uses: Iterable[Use]) -> None:
    """Count each use, or none. Raises Limited."""
    _advance(_steps(uses), _now_ms())


def check_all(uses: Iterable[Use]) -> None:
    """Raise Limited if ``take_all`` would; count nothing."""
    _refuse(_steps(uses), _now_ms())


def give_back_all(uses: Iterable[Use]) -> None:
    """Uncount uses that ``take_all`` has counted."""
    now_ms, steps = _now_ms(), _steps(uses)
    with transaction.atomic(DEFAULT_DB_ALIAS) if steps else nullcontext():
        for step in steps:
            used = _rows(step.key).filter(until_ms__gt=now_ms)
            used.update(until_ms=F("until_ms") - step.step_ms)


@contextmanager
def lease(key: str, *, for_s: float) -> Iterator[None]:
    """Hold a lease for the time of a block; it ends by itself after ``for_s``.

    Raises Limited if somebody else holds it; they may release it long before it ends.
    """
    now_ms, step = _now_ms(), _Step(_stored(key), round(1000 * for_s), 0)
    try:
        _advance([step], now_ms)
    except Limited as error:
        if error.retry_after_s > 2 * for_s:  # the clock was put back
            _rows(step.key).update(until_ms=now_ms)
        raise Limited(min(error.retry_after_s, RELEASED_SOON_S)) from None
    try:
        yield
    finally:
        with transaction.atomic(DEFAULT_DB_ALIAS):
            still_held = _rows(step.key).filter(until_ms=now_ms + step.step_ms)
            still_held.update(until_ms=_now_ms())


def remove_expired() -> bool:
    """Remove rows that mean the same as no row; return whether there are more."""
    expired = Limit.objects.filter(until_ms__lt=_now_ms() - EXPIRED_AFTER_MS)
    return delete_first(expired, "until_ms")


class _Step(NamedTuple):
    """By how much a key's time moves, unless it is further than ``ahead_ms`` in the future."""

    key: str
    step_ms: int
    ahead_ms: int


class _Changed(Exception):
    """Somebody else has changed a row since it was read."""


def _steps(uses: Iterable[Use]) -> list[_Step]:
    """Return the steps in the order of their keys, in which everybody locks the rows."""
    return sorted(
        _Step(_stored(key), round(1000 / per_s), round(1000 / per_s * (burst - 1)))
        for key, burst, per_s in uses
        if burst and per_s
    )


def _advance(steps: Sequence[_Step], now_ms: int) -> None:
    """Take all steps or none. Raises Limited."""
    if not steps:
        return
    while True:
        _insert(_refuse(steps, now_ms), now_ms)
        with suppress(_Changed), transaction.atomic(DEFAULT_DB_ALIAS):
            for step in steps:
                free = _rows(step.key).filter(until_ms__lte=now_ms + step.ahead_ms)
                moved = Greatest("until_ms", Value(now_ms)) + step.step_ms
                if not free.update(until_ms=moved):
                    raise _Changed
            return


def _refuse(steps: Sequence[_Step], now_ms: int) -> list[str]:
    """Raise Limited if a limit is reached; else return the keys that have no row yet."""
    if not steps:
        return []
    rows = dict(_rows(*(step.key for step in steps)).values_list("key", "until_ms"))
    waits_ms = [rows.get(step.key, now_ms) - now_ms - step.ahead_ms for step in steps]
    if max(waits_ms) > 0:
        raise Limited(max(waits_ms) / 1000)
    return [step.key for step in steps if step.key not in rows]


def _insert(keys: Sequence[str], now_ms: int) -> None:
    # Committed before the UPDATE: those who find the row there lock it too, and would deadlock.
    if keys:
        with transaction.atomic(DEFAULT_DB_ALIAS):
            rows = [Limit(key=key, until_ms=now_ms) for key in keys]
            Limit.objects.bulk_create(rows, ignore_conflicts=True)


def _rows(*keys: str) -> QuerySet[Limit]:
    return Limit.objects.using(DEFAULT_DB_ALIAS).filter(key__in=keys)


def _stored(key: str) -> str:
    return key if len(key) <= MAX_LIMIT_CHARACTERS else hashlib.sha256(key.encode()).hexdigest()


def _now_ms() -> int:
    return int(time.time() * 1000)

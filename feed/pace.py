"""How fast posts get their receipts: cheap enough to be asked once a second under load."""

import time
from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np
from django.db import models
from django.db.models import Count, F, FloatField, Func
from django.db.models.functions import Now

from accounts.models import Friendship
from feed.models import Post

WINDOW_S = 10
MOST_POSTS = 20_000
"""Looked at in a window; of a faster service these are the latest, and the rest is reckoned."""
KEEP_S = 600.0


class Pace(NamedTuple):
    """Of the posts that got their receipt in the last WINDOW_S, by the database's clock."""

    deliveries_per_s: float
    lag_ms: dict[str, float | None]
    """p50 and p99; None without posts."""


class _LagMs(Func):
    """The first time less the second, in milliseconds, reckoned by the database."""

    output_field = FloatField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = "(julianday(%(expressions)s)) * 86400000"
        joiner = ") - julianday("
        return self.as_sql(compiler, connection, template=template, arg_joiner=joiner, **context)

    def as_mysql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = "TIMESTAMPDIFF(MICROSECOND, %(expressions)s) / -1e3"
        return self.as_sql(compiler, connection, template=template, **context)


class _FriendCounts:
    """How many friends people have, asked once and believed for KEEP_S."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self._forget_at = 0.0

    def of(self, person_ids: Iterable[int]) -> dict[int, int]:
        if time.monotonic() > self._forget_at:
            self._counts = {}
            self._forget_at = time.monotonic() + KEEP_S
        if unknown := set(person_ids) - self._counts.keys():
            counted = Friendship.objects.filter(person_id__in=unknown).values_list("person_id")
            self._counts |= dict.fromkeys(unknown, 0) | dict(counted.annotate(Count("friend_id")))
        return self._counts


friend_counts = _FriendCounts()


def pace() -> Pace:
    lag_ms = _LagMs(F("delivered_at"), F("created_at"))
    rows = list(delivered().values_list("author_id", lag_ms)[:MOST_POSTS])
    posts = Counter(author_id for author_id, _ in rows)
    friends = friend_counts.of(posts)
    deliveries = sum(count * (friends[author_id] + 1) for author_id, count in posts.items())
    share = len(rows) / delivered().count() if len(rows) == MOST_POSTS else 1
    return Pace(round(deliveries / share / WINDOW_S, 1), _percentiles([lag for _, lag in rows]))


def delivered() -> models.QuerySet[Post]:
    """Return the posts of the window, the latest first."""
    since = Now() - timedelta(seconds=WINDOW_S)
    return Post.objects.filter(delivered_at__gt=since).order_by("-delivered_at")


def _percentiles(lags_ms: list[float]) -> dict[str, float | None]:
    if not lags_ms:
        return {"p50": None, "p99": None}
    p50, p99 = np.percentile(lags_ms, (50, 99)).round(1)
    return {"p50": float(p50), "p99": float(p99)}

"""Rates and lag of recent receipts, cheap enough for one call per second under load."""

from collections import Counter
from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np
from django.db import models
from django.db.models import F, FloatField, Func
from django.db.models.functions import Now

from feed.models import Post
from feed.recipients import ReaderCounts

WINDOW_S = 10
MOST_POSTS = 20_000
"""Most posts read per window, the latest; the rest is extrapolated."""


class RecentRates(NamedTuple):
    """Figures of the posts with a receipt in the last WINDOW_S, by the database's clock."""

    deliveries_per_s: float
    lag_ms: dict[str, float | None]
    """p50 and p99; None without posts."""


class _LagMs(Func):
    """Timestamp difference in milliseconds, computed by the database."""

    output_field = FloatField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = "(julianday(%(expressions)s)) * 86400000"
        joiner = ") - julianday("
        return self.as_sql(compiler, connection, template=template, arg_joiner=joiner, **context)

    def as_mysql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = "TIMESTAMPDIFF(MICROSECOND, %(expressions)s) / -1e3"
        return self.as_sql(compiler, connection, template=template, **context)

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = "EXTRACT(EPOCH FROM %(expressions)s) * 1e3"
        return self.as_sql(compiler, connection, template=template, arg_joiner=" - ", **context)


reader_counts = ReaderCounts()


def recent_rates() -> RecentRates:
    lag_ms = _LagMs(F("delivered_at"), F("created_at"))
    rows = list(delivered().values_list("author_id", lag_ms)[:MOST_POSTS])
    posts = Counter(author_id for author_id, _ in rows)
    readers = reader_counts.of(posts)
    deliveries = sum(count * (readers[author_id] + 1) for author_id, count in posts.items())
    share = len(rows) / delivered().count() if len(rows) == MOST_POSTS else 1
    return RecentRates(
        round(deliveries / share / WINDOW_S, 1), _percentiles([lag for _, lag in rows])
    )


def delivered() -> models.QuerySet[Post]:
    """Return the posts of the window, the latest first."""
    since = Now() - timedelta(seconds=WINDOW_S)
    return Post.objects.filter(delivered_at__gt=since).order_by("-delivered_at")


def _percentiles(lags_ms: list[float]) -> dict[str, float | None]:
    if not lags_ms:
        return {"p50": None, "p99": None}
    p50, p99 = np.percentile(lags_ms, (50, 99)).round(1)
    return {"p50": float(p50), "p99": float(p99)}

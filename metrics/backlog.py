"""Metrics that are read from the database at each scrape."""

from collections.abc import Iterator

from django.db import DatabaseError
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from feed import selectors
from feed.backlog import reason_full


class Backlog(Collector):
    def collect(self) -> Iterator[Metric]:
        """Yield the backlog; without the database, only feed_database_up 0."""
        try:
            backlog, poison = selectors.backlog(), selectors.poison()
            store, changes = selectors.store_state(), selectors.unfinished_changes()
            full = reason_full()
        except DatabaseError:
            yield GaugeMetricFamily("feed_database_up", "Whether the database answers.", 0)
            return
        yield GaugeMetricFamily("feed_database_up", "Whether the database answers.", 1)
        yield GaugeMetricFamily("feed_backlog_posts", "Posts without a receipt.", backlog.posts)
        yield GaugeMetricFamily(
            "feed_oldest_pending_seconds",
            "Age of the oldest post without a receipt; 0 without a backlog.",
            backlog.oldest_age_s or 0.0,
        )
        yield GaugeMetricFamily(
            "feed_accepts_posts",
            "Whether posts are accepted: 0 while deliveries are too far behind.",
            int(full is None),
        )
        yield GaugeMetricFamily(
            "feed_poison_posts", "Posts that cannot be delivered.", poison.posts
        )
        yield GaugeMetricFamily(
            "feed_store_usable",
            "Whether the timeline store answers and is the database's.",
            int(store == "ok"),
        )
        yield GaugeMetricFamily(
            "feed_unfinished_changes",
            "Friendship changes that the timelines don't show yet.",
            changes,
        )

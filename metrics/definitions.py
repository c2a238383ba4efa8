"""Metrics that the processes of the service count; ``metrics.scrape`` adds those read on demand.

All processes of an installation share the files in METRICS_DIR. Every metric has labels: one
without labels would create a file in every short command that imports it.
"""

from prometheus_client import Counter, Gauge, Histogram

DELIVERED_BY = ("strategy", "store")
REQUEST_BUCKETS_S = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
LAG_BUCKETS_S = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60)

requests = Counter(
    "feed_requests_total",
    "Requests answered. route is the URL's pattern, and empty for a URL without one.",
    ("route", "method", "status"),
)
request_seconds = Histogram(
    "feed_request_seconds",
    "Time to answer a request, without its wait for a free worker.",
    ("route", "method"),
    buckets=REQUEST_BUCKETS_S,
)
posts_delivered = Counter(
    "feed_posts_delivered_total",
    "Posts that got their receipt; a redelivered post counts once.",
    DELIVERED_BY,
)
deliveries = Counter(
    "feed_deliveries_total",
    "Deliveries of these posts: one for the author and one for each friend.",
    DELIVERED_BY,
)
lag_seconds = Histogram(
    "feed_lag_seconds",
    "Receipt minus created_at of these posts, by the database's clock.",
    DELIVERED_BY,
    buckets=LAG_BUCKETS_S,
)
timeline_loads = Counter(
    "feed_timeline_loads_total",
    "Timelines that readers loaded from the database, because the store lacked their first page.",
    ("store",),
)
database_connections = Gauge(
    "feed_database_connections",
    "Open database connections, as of each process's last request or delivery.",
    ("database",),
    multiprocess_mode="livesum",
)

"""Queries: HOW the log is asked for the visits of a person."""

from replays.activity.app.queries.base import Queries
from runtime.backends import BackendHandler

queries: BackendHandler[Queries] = BackendHandler(
    choice="ACTIVITY_QUERIES", table="ACTIVITY_IMPLEMENTATIONS"
)


def get_queries() -> Queries:
    """Return the queries that the setting ACTIVITY_QUERIES names."""
    return queries.current

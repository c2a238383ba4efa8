"""Timeline stores: WHERE the deliveries of a post are kept."""

from feed.timeline_stores.base import TimelineStore
from runtime.backends import BackendHandler

timeline_stores: BackendHandler[TimelineStore] = BackendHandler(
    choice="FEED_TIMELINE_STORE", table="FEED_TIMELINE_STORES"
)


def get_timeline_store() -> TimelineStore:
    """Return the timeline store that the setting FEED_TIMELINE_STORE names."""
    return timeline_stores.current

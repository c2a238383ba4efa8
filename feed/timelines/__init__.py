"""Timeline stores: WHERE the deliveries of a post are kept."""

from runtime.backends import BackendHandler
from feed.timelines.base import Timeline

timelines: BackendHandler[Timeline] = BackendHandler(choice="FEED_TIMELINE", table="FEED_TIMELINES")


def get_timeline() -> Timeline:
    """Return the store that the setting FEED_TIMELINE names."""
    return timelines.current

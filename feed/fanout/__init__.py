"""Strategies: WHEN the deliveries of a post are made."""

from runtime.backends import BackendHandler
from feed.fanout.base import Fanout

fanouts: BackendHandler[Fanout] = BackendHandler(choice="FEED_FANOUT", table="FEED_FANOUTS")


def get_fanout() -> Fanout:
    """Return the strategy that the setting FEED_FANOUT names."""
    return fanouts.current

"""Strategies: WHEN the deliveries of a post are made."""

from feed.strategies.base import Strategy
from runtime.backends import BackendHandler

strategies: BackendHandler[Strategy] = BackendHandler(
    choice="FEED_STRATEGY", table="FEED_STRATEGIES"
)


def get_strategy() -> Strategy:
    """Return the strategy that the setting FEED_STRATEGY names."""
    return strategies.current

"""Listings: HOW everybody's posts are found in the order of their likes."""

from runtime.backends import BackendHandler
from feed.listings.base import Listing

listings: BackendHandler[Listing] = BackendHandler(choice="FEED_LISTING", table="FEED_LISTINGS")


def get_listing() -> Listing:
    """Return the listing that the setting FEED_LISTING names."""
    return listings.current

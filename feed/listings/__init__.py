"""Listings: HOW the listing of all posts by likes is read."""

from feed.listings.base import Listing
from runtime.backends import BackendHandler

listings: BackendHandler[Listing] = BackendHandler(choice="FEED_LISTING", table="FEED_LISTINGS")


def get_listing() -> Listing:
    """Return the listing that the setting FEED_LISTING names."""
    return listings.current

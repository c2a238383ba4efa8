"""The service with timelines that end after their first page."""

from config.settings import *  # noqa: F403
from config.settings import FEED_TIMELINE_STORES

FEED_TIMELINE_STORES = FEED_TIMELINE_STORES | {
    "setbased": {"BACKEND": "tests.lab.planted.stores.CutShort"}
}

"""The service with timelines that end after their first page."""

from config.settings import *  # noqa: F403
from config.settings import FEED_TIMELINES

FEED_TIMELINES = FEED_TIMELINES | {"setbased": {"BACKEND": "tests.lab.planted.stores.CutShort"}}

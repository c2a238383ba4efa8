"""The service with stores that are wrong under the names of good ones."""

from config.settings import *  # noqa: F403
from config.settings import FEED_TIMELINES

FEED_TIMELINES = FEED_TIMELINES | {
    "setbased": {"BACKEND": "tests.lab.planted.stores.Lossy"},
    "ring": FEED_TIMELINES["ring"] | {"BACKEND": "tests.lab.planted.stores.Duplicating"},
}

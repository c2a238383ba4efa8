"""The service with parts that are wrong under the names of good ones."""

from config.settings import *  # noqa: F403
from config.settings import ACTIVITY_IMPLEMENTATIONS, FEED_TIMELINES

FEED_TIMELINES = FEED_TIMELINES | {
    "setbased": {"BACKEND": "tests.lab.planted.stores.Lossy"},
    "ring": FEED_TIMELINES["ring"] | {"BACKEND": "tests.lab.planted.stores.Duplicating"},
}
ACTIVITY_IMPLEMENTATIONS = ACTIVITY_IMPLEMENTATIONS | {
    "indexed": ACTIVITY_IMPLEMENTATIONS["indexed"] | {"BACKEND": "tests.activity.wrong.Forgetful"},
}

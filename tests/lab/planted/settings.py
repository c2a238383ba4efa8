"""The service with faulty backends under the names of good ones."""

from config.settings import *  # noqa: F403
from config.settings import FEED_TIMELINE_STORES, IN_REDIS

FEED_TIMELINE_STORES = FEED_TIMELINE_STORES | {
    "packed": {"BACKEND": "tests.lab.planted.stores.Failing"},
    "setbased": {"BACKEND": "tests.lab.planted.stores.Lossy"},
    "ring": FEED_TIMELINE_STORES["ring"] | {"BACKEND": "tests.lab.planted.stores.Duplicating"},
    "log": {
        "BACKEND": "tests.lab.planted.stores.Forgetful",
        "OPTIONS": IN_REDIS | {"capacity": 100},
    },
}

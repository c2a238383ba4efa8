"""The service's settings, with stores that may lack a safeguard."""

from config.settings import *  # noqa: F403
from config.settings import FEED_TIMELINE_STORES

FEED_TIMELINE_STORES["ring"]["BACKEND"] = "tests.system.unguarded.Ring"
FEED_TIMELINE_STORES["log"]["BACKEND"] = "tests.system.unguarded.Log"

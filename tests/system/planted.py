"""The service's settings, with a ring that takes what it holds for whole."""

from config.settings import *  # noqa: F403
from config.settings import FEED_TIMELINE_STORES

FEED_TIMELINE_STORES["ring"]["BACKEND"] = "tests.system.floorless.Floorless"

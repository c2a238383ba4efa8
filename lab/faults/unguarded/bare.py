"""The service's settings; but tasks only note that they ran, and nothing looks for posts that were
left behind: what a queue does by itself."""

from config.settings import *  # noqa: F403
from config.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "lab.faults.unguarded.noting.Noting"]

"""The service with a database that fails in the middle of a sign-up."""

from config.settings import *  # noqa: F403
from config.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.lab.planted.torn"]

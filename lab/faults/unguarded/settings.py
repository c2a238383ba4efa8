"""The service's settings, for a service from which safeguards can be taken out while it runs."""

from config.settings import *  # noqa: F403
from config.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "lab.faults.unguarded.apps.Unguarded"]

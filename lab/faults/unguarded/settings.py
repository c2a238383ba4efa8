"""The service's settings, for a service from which safeguards can be taken out while it runs."""

from config.settings import INSTALLED_APPS
from lab.faults.unguarded.guarded import *  # noqa: F403

INSTALLED_APPS = [*INSTALLED_APPS, "lab.faults.unguarded.apps.Unguarded"]

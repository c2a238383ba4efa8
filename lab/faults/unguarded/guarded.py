"""The service's settings; but its times are those of MySQL's own zone, which faults change."""

from config.settings import *  # noqa: F403
from config.settings import DATABASES

for database in DATABASES.values():
    options = database["OPTIONS"]
    options["init_command"] = options["init_command"].replace("'+00:00'", "@@global.time_zone")

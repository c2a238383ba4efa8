"""The service's settings; but on MySQL its times are those of the server's own zone, which a
fault changes."""

from config.settings import *  # noqa: F403
from config.settings import DATABASES

for database in DATABASES.values():
    options = database["OPTIONS"]
    if "init_command" in options:
        options["init_command"] = options["init_command"].replace("'+00:00'", "@@global.time_zone")

"""The service with exports, and connections of their own for them."""

from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from replays.databases.settings import *  # noqa: F403
from replays.databases.settings import (
    DATABASES,
    INSTALLED_APPS,
    MIDDLEWARE,
    VAR_DIR,
    env,
    pooled,
)

INSTALLED_APPS += ["replays.export.app"]
ROOT_URLCONF = "replays.export.urls"

EXPORT_DIR = Path(env.str("EXPORT_DIR", default=str(VAR_DIR / "exports")))
"""Folder of finished export jobs; all processes must see the same one."""
EXPORT_KEEP_S = env.float("EXPORT_KEEP_S", default=24 * 3600.0)
WEB_SWITCH_MS = env.float("WEB_SWITCH_MS", default=5.0)
"""Interpreter switch interval in milliseconds (sys.setswitchinterval); Python's default."""

EXPENSIVE_READS = env.str("EXPENSIVE_READS", default="")
"""Where exports and the report read: the size of a pool of connections of their own, or the alias
of a database; empty: where all else does."""
if EXPENSIVE_READS.isdecimal():
    pool = pooled(DATABASES["default"], int(EXPENSIVE_READS))
    DATABASES["expensive"] = pool | {"TEST": {"MIRROR": "default"}}
elif EXPENSIVE_READS and EXPENSIVE_READS not in DATABASES:
    known = ", ".join(sorted(DATABASES))
    raise ImproperlyConfigured(
        f"EXPENSIVE_READS: {EXPENSIVE_READS!r} is neither a size nor one of: {known}"
    )
EXPENSIVE_ALIAS = "expensive" if EXPENSIVE_READS.isdecimal() else EXPENSIVE_READS
DATABASE_ROUTERS = ["replays.export.app.expensive.Router"] if EXPENSIVE_ALIAS else []
if EXPENSIVE_ALIAS:
    MIDDLEWARE += ["replays.export.app.expensive.Middleware"]

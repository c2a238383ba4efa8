"""The service with likes, and a listing of all posts by their likes."""

from config.cache import cache
from replays.databases.settings import *  # noqa: F403
from replays.databases.settings import (
    CACHES,
    INSTALLED_APPS,
    MIDDLEWARE,
    REDIS_URL,
    REPLICAS,
    env,
)

INSTALLED_APPS += ["replays.browse.app"]
ROOT_URLCONF = "replays.browse.urls"

FEED_LISTING = env.str("FEED_LISTING", default="keyset")
"""How the listing is read."""
KEEP = {"keep_s": env.float("FEED_LISTING_KEEP_S", default=1.0)}
FEED_LISTINGS = {
    "aggregate": {"BACKEND": "replays.browse.app.listings.Aggregate"},
    "counter": {"BACKEND": "replays.browse.app.listings.Counter"},
    "keyset": {"BACKEND": "replays.browse.app.listings.Keyset"},
    "cached": {"BACKEND": "replays.browse.app.listings.Cached", "OPTIONS": KEEP},
}
LOG_IN_BACKGROUND = env.bool("LOG_IN_BACKGROUND", default=False)
"""gunicorn writes its access log in a thread of each worker."""
LOCAL = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
CACHES["listing"] = cache(REDIS_URL) | {"KEY_PREFIX": "listing"} if REDIS_URL else LOCAL

DATABASE_ROUTERS = ["replays.browse.app.replicas.Router"] if REPLICAS else []
OWN_WRITES_S = env.float("OWN_WRITES_S", default=60.0)
"""Seconds during which people read their own writes, even if replicas and cached listings lag
behind; 0 turns that off."""
if REPLICAS or FEED_LISTING == "cached":
    MIDDLEWARE += ["replays.browse.app.replicas.note_writes"]

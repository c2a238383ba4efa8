"""How the service caches posts."""

from typing import Any


def listing_cache(redis_url: str) -> dict[str, Any]:
    """Return the cache of listings, which every process has for itself if there is no Redis."""
    if not redis_url:
        return {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
    return cache(redis_url) | {"KEY_PREFIX": "listing"}


def cache(redis_url: str) -> dict[str, Any]:
    """Return the cache on this Redis, or one that keeps nothing."""
    if not redis_url:
        return {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}
    timeouts = {"SOCKET_CONNECT_TIMEOUT": 2, "SOCKET_TIMEOUT": 2}
    return {
        "BACKEND": "django_redis.cache.RedisCache",
        "LOCATION": redis_url,
        "KEY_PREFIX": "cache",
        "OPTIONS": timeouts,
    }

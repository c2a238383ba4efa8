"""How the service caches posts."""

from collections.abc import Collection
from typing import Any

from django_redis.client import DefaultClient
from django_redis.exceptions import ConnectionInterrupted
from redis.exceptions import ResponseError

from runtime.redis_options import redis_options


class BytesClient(DefaultClient):  # type: ignore[misc]  # django-redis has no types
    """Stores bytes unchanged; pickling them would cost more than the call to Redis."""

    def add(self, *args: Any, **options: Any) -> bool:
        """Go without what Redis refuses to keep, as when its memory is full."""
        try:
            return bool(super().add(*args, **options))
        except ConnectionInterrupted as error:
            if not isinstance(error.__cause__, ResponseError):
                raise
            return False

    def encode(self, value: Any, *, allow_int: bool = True) -> Any:
        return value

    def decode(self, value: Any) -> Any:
        return value

    def get_many(
        self, keys: Collection[str], version: int | None = None, client: Any = None
    ) -> dict[str, bytes]:
        prefix = self.make_key("", version=version)  # per key, slower than the call
        client = client or self.get_client(write=False)
        values = client.mget([prefix + key for key in keys]) if keys else []
        return {key: value for key, value in zip(keys, values, strict=True) if value is not None}


def post_cache(redis_url: str) -> dict[str, Any]:
    """Return the cache of posts, which stores only bytes."""
    kept = cache(redis_url) | {"KEY_PREFIX": "posts"}
    if redis_url:
        kept["OPTIONS"] = {**kept["OPTIONS"], "CLIENT_CLASS": "config.cache.BytesClient"}
    return kept


def cache(redis_url: str) -> dict[str, Any]:
    """Return the cache on this Redis, or a dummy without one."""
    if not redis_url:
        return {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}
    options = {
        "CONNECTION_POOL_KWARGS": redis_options(redis_url),
        # Each thread has its own caches; the pool makes a call 50 % more expensive.
        "REDIS_CLIENT_KWARGS": {"single_connection_client": True},
    }
    return {
        "BACKEND": "django_redis.cache.RedisCache",
        "LOCATION": redis_url,
        "KEY_PREFIX": "cache",
        "OPTIONS": options,
    }

from threading import local

from django.core.exceptions import ImproperlyConfigured
from redis import Redis
from redis.backoff import ExponentialBackoff
from redis.retry import Retry

from feed.timeline_stores.trimmed import TrimmedStore

SHARDS = 64


_clients = local()


def connect(url: str) -> Redis:
    """Return this thread's client of a server, which keeps one connection.

    A connection from redis-py's pool for each call would make a short call cost half as much again.
    """
    clients: dict[str, Redis] = _clients.__dict__
    if url not in clients:
        clients[url] = _client(url)
    return clients[url]


def _client(url: str) -> Redis:
    """Return a client that gives up soon.

    Left to itself redis-py 8 waits 5 s for each answer and asks ten times: a frozen Redis would
    hold a call, and the database transaction around it, for about a minute.
    """
    return Redis.from_url(
        url,
        single_connection_client=True,
        socket_connect_timeout=2,
        socket_timeout=2,
        # No health check: the retry finds a dead connection as well, and a frozen server would be
        # waited for twice.
        retry=Retry(ExponentialBackoff(base=0.05, cap=0.2), retries=1),
    )


class RedisStore(TrimmedStore):
    """Timelines in Redis, one key each.

    Raises ``redis.exceptions.RedisError``: ConnectionError, TimeoutError (both after one retry),
    or ResponseError for what the server refuses, like a write beyond its memory.
    """

    needs_redis = True
    linger_ms = 75

    def __init__(self, alias: str, *, url: str, capacity: int = 800) -> None:
        super().__init__(alias, capacity=capacity)
        if not url:
            raise ImproperlyConfigured(f"the store {alias!r} needs REDIS_URL")
        self.url = url

    @property
    def client(self) -> Redis:
        return connect(self.url)  # on first use, so not before a server process forks

    def shard_prefix(self, shard: int) -> str:
        """Return how the keys of a shard begin; a cluster keeps what is in braces together."""
        return f"timeline:{self.alias}:{{{shard}}}:"

    def key(self, owner_id: int) -> str:
        return f"{self.shard_prefix(owner_id % SHARDS)}{owner_id}"

    def clear(self) -> None:
        with self.client.pipeline(transaction=False) as pipeline:
            for key in self.client.scan_iter(match=f"timeline:{self.alias}:*", count=1000):
                pipeline.unlink(key)
            pipeline.execute()

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

    Taking a connection from redis-py's pool would make a short call 50 % more expensive.
    """
    clients: dict[str, Redis] = _clients.__dict__
    if url not in clients:
        clients[url] = _client(url)
    return clients[url]


def _client(url: str) -> Redis:
    """Return a client with short time-outs and one retry.

    By default redis-py 8 waits 5 s for an answer and tries ten times: a frozen Redis would block a
    call, and the database transaction around it, for about a minute.
    """
    return Redis.from_url(
        url,
        single_connection_client=True,
        socket_connect_timeout=2,
        socket_timeout=2,
        # No health check: the retry handles dead connections, and a frozen server would cost two
        # time-outs.
        retry=Retry(ExponentialBackoff(base=0.05, cap=0.2), retries=1),
    )


class RedisStore(TrimmedStore):
    """Timelines in Redis, one key each.

    Raises ``redis.exceptions.RedisError``: ConnectionError, TimeoutError (both after one retry),
    or ResponseError for a command that the server refuses, such as a write when memory is full.
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
        """Return the key prefix of a shard; in a cluster, the braces keep its keys in one slot."""
        return f"timeline:{self.alias}:{{{shard}}}:"

    def key(self, owner_id: int) -> str:
        return f"{self.shard_prefix(owner_id % SHARDS)}{owner_id}"

    def clear(self) -> None:
        with self.client.pipeline(transaction=False) as pipeline:
            for key in self.client.scan_iter(match=f"timeline:{self.alias}:*", count=1000):
                pipeline.unlink(key)
            pipeline.execute()

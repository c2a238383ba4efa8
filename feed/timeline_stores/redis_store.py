"""What all stores in Redis have in common."""

from django.core.exceptions import ImproperlyConfigured

from feed.timeline_stores.base import TimelineStore
from feed.timeline_stores.redis_cluster import SCHEME, Cluster
from feed.timeline_stores.redis_servers import Keys, OneServer, RedisServers


class RedisStore(TimelineStore):
    """Timelines in the Redis or cluster at ``url``, the newest ``capacity`` ids of each."""

    accepts_partial_delivery = True
    needs_redis = True
    linger_ms = 75
    capacity: int
    servers: RedisServers

    def __init__(self, alias: str, *, url: str, capacity: int = 800, source: str = "") -> None:
        """``source``: of the script that the servers are to run."""
        super().__init__(alias)
        if not url:
            raise ImproperlyConfigured("a store in Redis needs TIMELINE_URL or REDIS_URL")
        self.capacity = capacity
        self.servers = (Cluster if url.startswith(SCHEME) else OneServer)(url, source)
        self.keys = Keys(self, self.servers)

    def discard(self, owner_id: int) -> None:
        self.keys.remove(owner_id)

    def clear(self) -> None:
        self.keys.remove_epoch()

    def remove_epoch(self, number: int) -> None:
        self.keys.remove_epoch(number)

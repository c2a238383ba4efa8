"""The published baselines: a sorted set per timeline, two commands per delivery, nothing heals."""

from collections.abc import Sequence
from itertools import islice
from typing import ClassVar

import numpy as np

from feed.models import Post
from feed.recipients import Deliveries, deliveries_of
from feed.timeline_stores.base import Command, Held, TimelineStore, Wanted
from feed.timeline_stores.redis_cluster import servers_at
from feed.timeline_stores.redis_servers import Keys, RedisServers


class Published(TimelineStore):
    """Timelines as sorted sets in Redis, the post id both member and score, without repair.

    What is lost stays lost. An unfollow cuts all posts so far from the timeline, or
    they would show what may not be seen any more.
    """

    is_healing = False
    accepts_partial_delivery = True
    needs_redis = True
    linger_ms = 75
    capacity: int
    servers: RedisServers
    commands_at_once: ClassVar[int]
    """Per round trip; a whole large batch could exceed the time-out."""

    def __init__(self, alias: str, *, url: str, capacity: int = 800) -> None:
        super().__init__(alias)
        self.capacity = capacity
        self.servers = servers_at(url)
        self.keys = Keys(self, self.servers)

    def deliver(self, posts: Sequence[Post]) -> None:
        self._deliver(deliveries_of(posts))

    def deliver_to(self, post: Post, owner_ids: Sequence[int]) -> None:
        self._deliver([(post.id, np.array(owner_ids, np.int64))])

    def _deliver(self, deliveries: Deliveries) -> None:
        commands = (
            command
            for post_id, owners in deliveries
            for owner_id in owners.tolist()
            for command in self.commands(post_id, owner_id)
        )
        while portion := list(islice(commands, self.commands_at_once)):
            self.servers.call(portion)

    def commands(self, post_id: int, owner_id: int) -> list[Command]:
        key = self.keys.of(owner_id)
        return [("ZADD", key, post_id, post_id), ("ZREMRANGEBYRANK", key, 0, -self.capacity - 1)]

    def find(self, owner_id: int, page: Wanted) -> Held:
        end = "+inf" if page.before is None else f"({page.before}"
        newest = ("ZREVRANGEBYSCORE", self.keys.of(owner_id), end, "-inf", "LIMIT", 0, page.limit)
        ids, reply = self.servers.ask_along(newest, page.along)
        return Held([int(post_id) for post_id in ids], floor=0, reply=reply)

    def change(self, owner_ids: Sequence[int], *, through: int) -> None:
        cut = ("-inf", through)
        self.servers.call(
            [("ZREMRANGEBYSCORE", self.keys.of(owner_id), *cut) for owner_id in owner_ids]
        )

    def clear(self) -> None:
        self.keys.remove_epoch()

    def remove_epoch(self, number: int) -> None:
        self.keys.remove_epoch(number)

    def discard(self, owner_id: int) -> None:
        self.servers.call([("UNLINK", self.keys.of(owner_id))])


class RoundTrip(Published):
    """One round trip per command, two commands per delivery: the published baseline.

    The cost: 1,002 round trips per post to 500 friends; client and server are idle in each.
    """

    commands_at_once = 1


class Pipeline(Published):
    """The commands of ``roundtrip``, pipelined."""

    commands_at_once = 10_000

"""The published baselines: a sorted set per timeline, two commands per delivery, nothing heals."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from feed.models import Post
from feed.recipients import Deliveries, deliveries_of
from feed.timeline_stores.base import Command, Held, Page
from feed.timeline_stores.redis_store import RedisStore

PORTION = 5_000
"""Deliveries per round trip of a pipeline; a whole large batch could exceed the time-out."""


class Published(RedisStore):
    """Timelines as sorted sets in Redis, the post id both member and score, without repair.

    What is lost stays lost. A changed friendship cuts all posts so far from both timelines, or
    they would show what may not be seen any more.
    """

    is_healing = False

    @abstractmethod
    def write(self, deliveries: Iterator[tuple[int, int]]) -> None:
        """Make deliveries, each a post id and an owner id."""

    def deliver(self, posts: Sequence[Post]) -> None:
        self.write(pairs(deliveries_of(posts)))

    def deliver_to(self, post: Post, owner_ids: Sequence[int]) -> None:
        self.write(pairs([(post.id, np.array(owner_ids, np.int64))]))

    def commands(self, post_id: int, owner_id: int) -> list[Command]:
        key = self.keys.of(owner_id)
        return [("ZADD", key, post_id, post_id), ("ZREMRANGEBYRANK", key, 0, -self.capacity - 1)]

    def find(self, owner_id: int, page: Page) -> Held:
        end = "+inf" if page.before is None else f"({page.before}"
        newest = ("ZREVRANGEBYSCORE", self.keys.of(owner_id), end, "-inf", "LIMIT", 0, page.limit)
        ids, reply = self.servers.ask_along(newest, page.along)
        return Held([int(post_id) for post_id in ids], floor=0, reply=reply)

    def change(self, owner_ids: Sequence[int], *, through: int) -> None:
        cut = ("-inf", through)
        self.servers.call(
            [("ZREMRANGEBYSCORE", self.keys.of(owner_id), *cut) for owner_id in owner_ids]
        )


class RoundTrip(Published):
    """One round trip per command, two commands per delivery: the published baseline.

    The cost: 1,002 round trips per post to 500 friends; client and server are idle in each.
    """

    def write(self, deliveries: Iterator[tuple[int, int]]) -> None:
        for delivery in deliveries:
            for command in self.commands(*delivery):
                self.servers.call([command])


class Pipeline(Published):
    """The commands of ``roundtrip``, pipelined."""

    def write(self, deliveries: Iterator[tuple[int, int]]) -> None:
        while portion := list(islice(deliveries, PORTION)):
            self.servers.call([command for one in portion for command in self.commands(*one)])


def pairs(deliveries: Deliveries) -> Iterator[tuple[int, int]]:
    """Yield each delivery as (post id, owner id)."""
    for post_id, owners in deliveries:
        for owner_id in owners.tolist():
            yield post_id, owner_id

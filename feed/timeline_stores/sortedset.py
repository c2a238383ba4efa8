from typing import Any

from redis import Redis

from feed.timeline_stores.redis import RedisStore


class SortedSetStore(RedisStore):
    """Timelines as sorted sets, the post id both member and score."""

    def put(self, client: Redis, owner_id: int, post_id: int) -> None:
        """Send the two commands of one delivery: add, and trim."""
        key = self.key(owner_id)
        client.zadd(key, {str(post_id): post_id})
        client.zremrangebyrank(key, 0, -self.capacity - 1)

    def page(self, owner_id: int, *, before: int | None = None, limit: int = 20) -> list[int]:
        newest = "+inf" if before is None else f"({before}"
        return _numbers(
            self.client.zrange(
                self.key(owner_id), newest, "-inf", desc=True, byscore=True, offset=0, num=limit
            )
        )

    def members(self, owner_id: int) -> list[int]:
        return _numbers(self.client.zrange(self.key(owner_id), 0, -1))


def _numbers(members: Any) -> list[int]:  # redis-py's return type covers every option
    return [int(post_id) for post_id in members]

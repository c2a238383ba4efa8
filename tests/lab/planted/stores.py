"""Faulty stores that report success."""

from feed.timeline_stores.base import Held
from feed.timeline_stores.redis import RedisStore
from feed.timeline_stores.setbased import SetBased


class Lossy(SetBased):
    """Loses every tenth post."""

    def deliver(self, posts):
        super().deliver([post for post in posts if post.id % 10])


class Duplicating(RedisStore):
    """Appends every delivery twice, without a check."""

    def write(self, deliveries):
        with self.client.pipeline(transaction=False) as pipeline:
            for post_id, owners in deliveries:
                for owner_id in owners.tolist():
                    pipeline.rpush(self.key(owner_id), post_id, post_id)
            pipeline.execute()
        return {}

    def create(self, owner_ids):
        return {}

    def read(self, owner_id, *, before=None, limit=20):
        ids = [int(post_id) for post_id in self.client.lrange(self.key(owner_id), 0, -1)]
        below = [post_id for post_id in ids if not before or post_id < before]
        return Held(sorted(below, reverse=True)[:limit], floor=0)


class CutShort(SetBased):
    """Holds every post and shows only the newest."""

    def page(self, owner_id, *, before=None, limit=20):
        return [] if before else super().page(owner_id, limit=limit)

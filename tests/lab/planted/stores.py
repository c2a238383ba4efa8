"""Faulty stores that report success."""

from feed.timeline_stores.base import Held
from feed.timeline_stores.published import Pipeline
from feed.timeline_stores.rows import SetBased


class Lossy(SetBased):
    """Loses every tenth post."""

    def deliver(self, posts):
        super().deliver([post for post in posts if post.id % 10])


class Duplicating(Pipeline):
    """Appends every delivery twice, without a check."""

    def commands(self, post_id, owner_id):
        return [("RPUSH", self.keys.of(owner_id), post_id, post_id)]

    def read(self, owner_id, *, before=None, limit=20, along=None):
        (found,) = self.servers.ask(("LRANGE", self.keys.of(owner_id), 0, -1))
        below = [post_id for post_id in map(int, found) if not before or post_id < before]
        return Held(sorted(below, reverse=True)[:limit], floor=0)


class CutShort(SetBased):
    """Holds every post and shows only the newest."""

    def read(self, owner_id, *, before=None, limit=20, along=None):
        held = Held() if before else super().read(owner_id, limit=limit)
        return held._replace(floor=0)

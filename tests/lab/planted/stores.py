"""Faulty stores: one that fails, and others that report success."""

from feed.timeline_stores.base import Held
from feed.timeline_stores.published import Pipeline
from feed.timeline_stores.rows import SetBased


class Failing(SetBased):
    def __init__(self, alias):
        raise RuntimeError("no such thing")


class Lossy(SetBased):
    """Loses every tenth post."""

    def deliver(self, posts):
        super().deliver([post for post in posts if post.id % 10])


class Duplicating(Pipeline):
    """Appends every delivery twice, without a check."""

    def commands(self, post_id, owner_id):
        return [("RPUSH", self.keys.of(owner_id), post_id, post_id)]

    def find(self, owner_id, page):
        (found,) = self.servers.ask(("LRANGE", self.keys.of(owner_id), 0, -1))
        below = [post_id for post_id in map(int, found) if not page.before or post_id < page.before]
        return Held(sorted(below, reverse=True)[: page.limit], floor=0)


class CutShort(SetBased):
    """Holds every post and shows only the newest."""

    def find(self, owner_id, page):
        held = Held() if page.before else super().find(owner_id, page)
        return held._replace(floor=0)

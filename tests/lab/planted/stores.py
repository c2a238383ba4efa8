"""Faulty stores: one that fails, and others that report success."""

from feed.timeline_stores.base import Held
from feed.timeline_stores.published import Pipeline
from feed.timeline_stores.ring import Ring
from feed.timeline_stores.rows import SetBased


class Failing(SetBased):
    def __init__(self, alias):
        raise RuntimeError("no such thing")


class Lossy(SetBased):
    """Loses every tenth post."""

    def deliver(self, posts):
        super().deliver([post for post in posts if post.id % 10])


class Forgetful(Ring):
    """Drops a few of the first deliveries to person 2, who is watched."""

    def write(self, deliveries):
        return super().write(
            [
                (post_id, owner_ids[owner_ids != 2] if post_id in range(20, 60) else owner_ids)
                for post_id, owner_ids in deliveries
            ]
        )


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

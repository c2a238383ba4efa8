"""Redis lists, a common way to keep timelines that can't be a store (see ``Lists``)."""

from feed.timeline_stores.base import Command, Held
from feed.timeline_stores.published import Pipeline


class Lists(Pipeline):
    """Redis lists, LPUSH and LTRIM pipelined.

    Not a store of the service: a post that is delivered again is there twice.
    """

    def commands(self, post_id: int, owner_id: int) -> list[Command]:
        key = self.keys.of(owner_id)
        return [("LPUSH", key, post_id), ("LTRIM", key, 0, self.capacity - 1)]

    def read(
        self,
        owner_id: int,
        *,
        before: int | None = None,
        limit: int = 20,
        along: Command | None = None,
    ) -> Held:
        (found,) = self.servers.ask(("LRANGE", self.keys.of(owner_id), 0, -1))
        ids = sorted(map(int, found), reverse=True)
        below = [post_id for post_id in ids if before is None or post_id < before]
        return Held(below[:limit], floor=0)

from feed.timeline_stores.base import Held
from feed.timeline_stores.packing import HEADER_WORDS, ID_BYTES, held_of
from feed.timeline_stores.redis import Script
from feed.timeline_stores.sharded import ShardedStore


class Ring(ShardedStore):
    """Each timeline is one Redis string: a header, and its distinct post ids ascending.

    A batch costs one append per owner, whatever its length. ``packing`` describes the format.
    """

    script = Script("ring.lua", "rule.lua")

    def read(self, owner_id: int, *, before: int | None = None, limit: int = 20) -> Held:
        # One command, so that the header belongs to the ids. Without ``before`` the end suffices.
        start = 0 if before else -ID_BYTES * (limit + HEADER_WORDS)
        tail = self.servers.ask("GETRANGE", self.key(owner_id), start, -1)
        return held_of(tail, before=before, limit=limit)

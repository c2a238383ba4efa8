import numpy as np

from feed.recipients import Ids
from feed.timelines.scripted import Script, ScriptedTimeline
from feed.timelines.shards import ID_BYTES, unpack


class Ring(ScriptedTimeline):
    """Each timeline is one Redis string: its post ids ascending, ID_BYTES each, none twice.

    A batch costs an owner one append, whatever its length. A string may grow to two thirds over
    the capacity before it is cut back; pages show only what is within.
    """

    script = Script("ring.lua")

    def page(self, owner_id: int, *, before: int | None = None, limit: int = 20) -> list[int]:
        if before is None:
            ids = self._newest(owner_id, min(limit, self.capacity))
        else:
            ids = self._newest(owner_id, self.capacity)
            ids = ids[: np.searchsorted(ids, before)]
        return _numbers(ids[::-1][:limit])

    def members(self, owner_id: int) -> list[int]:
        return _numbers(unpack(self.client.get(self.key(owner_id)) or b""))

    def _newest(self, owner_id: int, count: int) -> Ids:
        return unpack(self.client.getrange(self.key(owner_id), -ID_BYTES * count, -1))


def _numbers(ids: Ids) -> list[int]:
    numbers: list[int] = ids.tolist()
    return numbers

import numpy as np

from feed.recipients import Ids
from feed.timelines.scripted import Script, ScriptedTimeline


class Ring(ScriptedTimeline):
    """Each timeline is one Redis string: its post ids ascending, 8 bytes each, none twice.

    A batch costs an owner one append, whatever its length. A string may grow to a quarter over
    the capacity before it is cut back; pages show only what is within.
    """

    script = Script("ring.lua")

    def page(self, owner_id: int, *, before: int | None = None, limit: int = 20) -> list[int]:
        if before is None:
            ids = self._newest(owner_id, min(limit, self.capacity))
        else:
            ids = self._newest(owner_id, self.capacity)
            ids = ids[: np.searchsorted(ids, before)]
        return ids[::-1][:limit].tolist()

    def members(self, owner_id: int) -> list[int]:
        return _unpack(self.client.get(self.key(owner_id)) or b"").tolist()

    def _newest(self, owner_id: int, count: int) -> Ids:
        return _unpack(self.client.getrange(self.key(owner_id), -8 * count, -1))


def _unpack(packed: bytes) -> Ids:
    return np.frombuffer(packed, "<i8").astype(np.int64, copy=False)

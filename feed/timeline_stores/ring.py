from feed.recipients import Ids
from feed.timeline_stores.packing import ID_BYTES, page_of, unpack
from feed.timeline_stores.scripted import Script, ScriptedStore


class Ring(ScriptedStore):
    """Each timeline is one Redis string: its distinct post ids ascending, ID_BYTES each.

    A batch costs one append per owner, whatever its length. A string may grow to two thirds over
    the capacity before it is trimmed; pages show only ids within the capacity.
    """

    script = Script("ring.lua")

    def page(self, owner_id: int, *, before: int | None = None, limit: int = 20) -> list[int]:
        def newest(count: int) -> Ids:
            return unpack(self.client.getrange(self.key(owner_id), -ID_BYTES * count, -1))

        return page_of(newest, self.capacity, before=before, limit=limit)

    def members(self, owner_id: int) -> list[int]:
        ids: list[int] = unpack(self.client.get(self.key(owner_id)) or b"").tolist()
        return ids

# mypy: ignore-errors
"""seals: a changed friendship leaves both timelines as they are."""

from feed.timeline_stores.redis import RedisStore
from lab.faults.unguarded.switch import lacks

_change = RedisStore.change


def _unchanged(self, owner_ids, *, through):
    _change(self, owner_ids, through=0 if lacks("seals") else through)


RedisStore.change = _unchanged

# mypy: ignore-errors
"""floors: a timeline that is created by a delivery counts as whole."""

from feed.timeline_stores.redis import RedisStore
from lab.faults.unguarded.switch import lacks

_settle = RedisStore.settle


def _settle_at_0(self, tickets, *, through):
    _settle(self, tickets, through=0 if lacks("floors") else through)


RedisStore.settle = _settle_at_0

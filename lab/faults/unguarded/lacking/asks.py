# mypy: ignore-errors
"""asks: a script follows a slot that is on its way to another node."""

from feed.timeline_stores import redis_cluster
from lab.faults.unguarded.following import following
from lab.faults.unguarded.switch import lacks

_exchange, _follow = redis_cluster.exchange, following(redis_cluster.exchange)


def _follow_if_lacking(batches, source):
    return (_follow if lacks("asks") else _exchange)(batches, source)


redis_cluster.exchange = _follow_if_lacking

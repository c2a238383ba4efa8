# mypy: ignore-errors
"""promotions: a replica that became a primary is taken to have everything.

Either of two safeguards would do, so both are missing: a receipt needs a replica's confirmation,
and what a promoted replica may lack is delivered again.
"""

from feed import epochs
from feed.timeline_stores.redis_topology import Topology
from lab.faults.unguarded.switch import lacks

_has_replica, _go_on = Topology.has_replica, epochs._go_on


def _unconfirmed(topology, url):
    return not lacks("promotions") and _has_replica(topology, url)


def _without_redelivery(epoch, server, lost_s):
    return _go_on(epoch, server, 0.0 if lacks("promotions") else lost_s)


Topology.has_replica = _unconfirmed
epochs._go_on = _without_redelivery

from feed.timeline_stores.sharded import ShardedStore
from feed.timeline_stores.sortedset import SortedSetStore


class Script(ShardedStore, SortedSetStore):
    """The sorted sets of ``roundtrip``, written many at a time."""

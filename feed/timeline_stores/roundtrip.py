from feed.timeline_stores.redis import pending
from feed.timeline_stores.sortedset import SortedSetStore
from feed.timeline_stores.trimmed import Deliveries, Tickets


class RoundTrip(SortedSetStore):
    """One round trip per command, two commands per delivery: the published baseline.

    The cost: 1,002 round trips per post to 500 friends; client and server are idle in each.
    """

    def write(self, deliveries: Deliveries) -> Tickets:
        self.script.ensure(self.client)
        found: dict[int, int] = {}
        for post_id, owners in deliveries:
            for owner_id in owners.tolist():
                found |= pending(self.put(self.client, owner_id, post_id))
        return found

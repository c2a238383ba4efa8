from feed.timeline_stores.redis import pending
from feed.timeline_stores.sortedset import SortedSetStore
from feed.timeline_stores.trimmed import Deliveries, Tickets


class RoundTrip(SortedSetStore):
    """One round trip per command, two commands per delivery: the published baseline.

    The cost: 1,002 round trips per post to 500 friends; client and server are idle in each.
    """

    def write(self, deliveries: Deliveries) -> Tickets:
        found: dict[int, int] = {}
        for post_id, owners in deliveries:
            for owner_id in owners.tolist():
                add, trim = self.commands(owner_id, post_id)
                found |= pending(*self.send([add]))
                self.send([trim])
        return found

"""How many friends people have, for those who count deliveries."""

import time
from collections.abc import Iterable

from django.db.models import Count

from accounts.models import Friendship

KEEP_S = 60.0


class FriendCounts:
    """Cached for a minute: counting the friends of every author each time is expensive.

    So a friendship of the last minute may be missing from a number of deliveries.
    """

    def __init__(self) -> None:
        self._known: dict[int, int] = {}
        self._since = time.monotonic()

    def of(self, person_ids: Iterable[int]) -> dict[int, int]:
        """Return the number of friends of these persons at least."""
        if time.monotonic() > self._since + KEEP_S:
            self._known, self._since = {}, time.monotonic()
        known = self._known  # another thread may begin a new one
        if unknown := set(person_ids) - known.keys():
            counted = Friendship.objects.filter(person_id__in=unknown).values_list("person_id")
            known.update(dict.fromkeys(unknown, 0) | dict(counted.annotate(Count("friend_id"))))
        return known

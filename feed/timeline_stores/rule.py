"""One timeline as a store keeps it, and what each event does to it (docs/decisions/0041)."""

import secrets
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from feed.timeline_stores.base import ALL, Held

SLACK = 5 / 3
"""A timeline may grow to this many times the capacity before it is trimmed."""
VERSION_BITS = 46
MOST_ID = 2**47 - 2
"""The highest post id that can be stored (``packing``)."""


def new_version() -> int:
    return secrets.randbits(VERSION_BITS)


class Timeline:
    """A timeline in Python. The Lua scripts do the same in Redis.

    ``floor``: the timeline is exact above it; the database is asked for the rest. None: *pending*,
    nothing is known yet, and no ids are kept.
    ``seal``: late ids up to it are never added, since the owner may read others by then; they raise
    the floor instead.
    ``version``: changes with every event that could make an older answer of the database wrong:
    when floor or seal change, and when an id is delivered that the timeline doesn't keep.
    """

    def __init__(self, version: int | None = None) -> None:
        self.floor: int | None = None
        self.seal = 0
        self.version = new_version() if version is None else version
        self.ids: list[int] = []
        """Ascending and distinct, all above the floor."""

    def deliver(self, new: Sequence[int], capacity: int) -> None:
        """Add ascending, distinct ids of delivered posts."""
        if self.floor is None:
            self.version = new_version()
            return
        end = max(self.floor, self.seal)
        if new[0] <= end:
            self._refuse([post_id for post_id in new if post_id <= end])
            new = [post_id for post_id in new if post_id > end]
        if new:
            self._add(new)
            if len(self.ids) > capacity * SLACK:
                self._raise_floor(self.ids[-capacity - 1])

    def see(self, logged: Iterable[int]) -> None:
        """Show ids that are delivered later, from a log; what a load knew is still right then."""
        version = self.version
        self.deliver(sorted({*logged}), ALL)
        self.version = version

    def activate(self, version: int, through: int) -> None:
        """Let a pending timeline begin above ``through``, the newest post since the version."""
        if self.floor is None and self.version == version:
            self.floor = self.seal = through
            self.version = new_version()

    def load(self, version: int, through: int, floor: int, ids: Sequence[int]) -> None:
        """Add the ids that are due above ``floor`` up to ``through``, ascending.

        ``through``: the floor that was seen; of a pending timeline, the newest post since the
        version.
        """
        if self.version != version:
            return
        if self.floor is None:
            self.seal = self.floor = through
        self.ids = sorted({*ids, *self.ids})
        self.floor, self.version = min(floor, self.floor), new_version()

    def change(self, through: int) -> None:
        """Leave everything up to ``through`` to the database: the owner reads others now."""
        self.seal = max(self.seal, through)
        self.version = new_version()
        if self.floor is not None:
            self._raise_floor(through)

    def _refuse(self, late: Sequence[int]) -> None:
        """Leave ids at or below floor or seal to the database, unless they are there."""
        missing = [post_id for post_id in late if not self._holds(post_id)]
        if missing:
            self.version = new_version()
            self._raise_floor(missing[-1])

    def page(self, before: int | None, limit: int) -> Held:
        end = None if before is None else bisect_left(self.ids, before)
        floor = None if self.floor == MOST_ID else self.floor  # there may be posts above it
        return Held(self.ids[:end][::-1][:limit], floor, self.version)

    def _raise_floor(self, floor: int) -> None:
        if self.floor is not None and floor > self.floor:
            self.floor, self.version = floor, new_version()
            del self.ids[: bisect_right(self.ids, floor)]

    def _holds(self, post_id: int) -> bool:
        at = bisect_left(self.ids, post_id)
        return at < len(self.ids) and self.ids[at] == post_id

    def _add(self, new: Sequence[int]) -> None:
        if self.ids and new[0] <= self.ids[-1]:
            self.ids = sorted({*self.ids, *new})
        else:
            self.ids += new

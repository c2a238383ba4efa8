from typing import Any

from django.core.cache import caches

from feed.listings.base import ListingPage, Position
from feed.listings.counter import Keyset


class Cached(Keyset):
    """Keeps the first pages, so that what they show may be ``keep_s`` old.

    Not for those who have just written: they would miss it.
    """

    def __init__(self, alias: str, *, keep_s: float) -> None:
        super().__init__(alias)
        self.keep_s = keep_s

    def page(
        self, *, number: int | None, after: Position | None, size: int, fresh: bool = False
    ) -> ListingPage:
        wanted: dict[str, Any] = {"number": number, "after": after, "size": size}
        if fresh or after is not None or number not in (None, 1):
            return super().page(**wanted)
        # Which of the two says how the next page is named.
        key = f"listing:{number}:{size}"
        kept: ListingPage | None = caches["listing"].get(key)
        if kept is None:
            kept = super().page(**wanted)
            caches["listing"].set(key, kept, self.keep_s)
        return kept

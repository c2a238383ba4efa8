from typing import Any

from django.core.cache import caches

from feed.listings.base import ListingPage, Position
from feed.listings.counter import Keyset


class Cached(Keyset):
    """Caches the first pages for ``keep_s``, except for clients who have just written."""

    def __init__(self, alias: str, *, keep_s: float) -> None:
        super().__init__(alias)
        self.keep_s = keep_s

    def page(
        self, *, number: int | None, after: Position | None, size: int, fresh: bool = False
    ) -> ListingPage:
        wanted: dict[str, Any] = {"number": number, "after": after, "size": size}
        if fresh or after is not None or number not in (None, 1):
            return super().page(**wanted)
        # Page 1 and no page differ in their link to the next page.
        key = f"listing:{number}:{size}"
        kept: ListingPage | None = caches["listing"].get(key)
        if kept is None:
            kept = super().page(**wanted)
            caches["listing"].add(key, kept, self.keep_s)
        return kept

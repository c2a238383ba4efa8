from typing import Any

from django.core.cache import caches

from feed.listings.base import ListingPage, Position
from feed.listings.counter import Keyset
from feed.models import Post
from feed.visibility import visible


class Cached(Keyset):
    """Caches the first pages for ``keep_s``, except for clients who have just written.

    A cached page has posts of everybody. A viewer for whom one of them is hidden, and everybody
    after one was deleted, gets a page from the database.
    """

    def __init__(self, alias: str, *, keep_s: float) -> None:
        super().__init__(alias)
        self.keep_s = keep_s

    def page(
        self,
        *,
        viewer_id: int,
        number: int | None,
        after: Position | None,
        size: int,
        fresh: bool = False,
    ) -> ListingPage:
        if not fresh and after is None and number in (None, 1):
            kept = self._kept(number, size)
            if _is_visible(kept, viewer_id):
                return kept
        return super().page(viewer_id=viewer_id, number=number, after=after, size=size)

    def _kept(self, number: int | None, size: int) -> ListingPage:
        # Page 1 and no page differ in their link to the next page.
        key = f"listing:{number}:{size}"
        kept: ListingPage | None = caches["listing"].get(key)
        if kept is None:
            kept = self.page_of(self.counted(), number, None, size)
            caches["listing"].add(key, kept, self.keep_s)
        return kept


def _is_visible(page: ListingPage, viewer_id: int) -> bool:
    # Without a filter on deleted_at: SQLite would scan the index of all live posts.
    posts = visible(Post.objects.filter(id__in=[post.id for post in page.posts]), viewer_id)
    found: list[Any] = list(posts.values_list("deleted_at", flat=True))
    return found == [None] * len(page.posts)

"""Listings: HOW the listing of all posts by likes is read."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

from django.core.cache import caches
from django.db.models import Count, F, QuerySet

from feed.models import Post, PostQuerySet
from replays.databases.visibility import visible
from runtime.backends import BackendHandler

MAX_PAGE = 1_000
"""A page's number is an offset: the database reads all posts before it."""


class Position(NamedTuple):
    """A post's place in the listing."""

    likes: int
    id: int

    @classmethod
    def of(cls, counted: Post) -> "Position":
        return cls(counted.likes, counted.id)  # type: ignore[attr-defined]

    @classmethod
    def parse(cls, text: str) -> "Position":
        return cls(*map(int, text.split("-")))

    def __str__(self) -> str:
        return f"{self.likes}-{self.id}"


class Place(NamedTuple):
    """Which page of the listing; the first one if neither a number nor a position is given."""

    number: int | None
    after: Position | None
    size: int


class ListingPage(NamedTuple):
    posts: list[Post]
    """Most likes first, then newest first."""
    next: tuple[str, str] | None
    """The query parameter of the next page, and its value; None at the end."""


class Listing(ABC):
    """All posts that the viewer may read, those with the most likes first.

    Every listing returns a page by its number or by the position before it. Numbers are offsets:
    each page is slower than the one before, and a change of the order in between skips or repeats
    posts.
    """

    keyset: ClassVar[bool] = False
    """Without a page number, the link to the next page has a position, not a number."""

    def __init__(self, alias: str) -> None:
        self.alias = alias

    @abstractmethod
    def counted(self) -> PostQuerySet:
        """Return the live posts, each with its ``likes``."""

    def post(self, post_id: int, *, viewer_id: int) -> Post:
        """Return one of the posts. Raises Post.DoesNotExist."""
        return visible(self.counted(), viewer_id).get(id=post_id)

    def page(self, place: Place, *, viewer_id: int, fresh: bool = False) -> ListingPage:
        """Return a page. ``fresh``: the client has just written, and must see its write."""
        return self.page_of(visible(self.counted(), viewer_id), place)

    def page_of(self, counted: PostQuerySet, place: Place) -> ListingPage:
        """Return a page of these posts."""
        number, after, size = place
        posts: QuerySet[Post] = counted.order_by("-likes", "-id")  # type: ignore[misc]
        if after is not None:
            # Not "fewer likes or …": an index range needs one condition on its first column.
            posts = posts.filter(likes__lte=after.likes)  # type: ignore[misc]
            posts = posts.exclude(likes=after.likes, id__gte=after.id)  # type: ignore[misc]
        start = ((number or 1) - 1) * size
        found = list(posts[start : start + size + 1])
        if len(found) <= size:
            return ListingPage(found, None)
        return ListingPage(found[:size], self._next(place, found[size - 1]))

    def _next(self, place: Place, last: Post) -> tuple[str, str]:
        number, after, _ = place
        if after is not None or number == MAX_PAGE or (number is None and self.keyset):
            return "after", str(Position.of(last))
        return "page", str((number or 1) + 1)


class Aggregate(Listing):
    """Counts every post's likes for every page: the published baseline."""

    def counted(self) -> PostQuerySet:
        return Post.objects.live().annotate(likes=Count("liked_by__person_id"))


class Counter(Listing):
    """Reads the stored like counts in the order of their index."""

    def counted(self) -> PostQuerySet:
        return Post.objects.live().annotate(likes=F("like_count"))


class Keyset(Counter):
    """Continues after the last post's position: deep pages are as fast as the first one."""

    keyset = True


class Cached(Keyset):
    """Caches the first pages for ``keep_s``, except for clients who have just written.

    A cached page has posts of everybody. A viewer for whom one of them is hidden, and everybody
    after one was deleted, gets a page from the database.
    """

    def __init__(self, alias: str, *, keep_s: float) -> None:
        super().__init__(alias)
        self.keep_s = keep_s

    def page(self, place: Place, *, viewer_id: int, fresh: bool = False) -> ListingPage:
        if not fresh and place.after is None and place.number in (None, 1):
            kept = self._kept(place)
            if _is_visible(kept, viewer_id):
                return kept
        return super().page(place, viewer_id=viewer_id)

    def _kept(self, place: Place) -> ListingPage:
        # Page 1 and no page differ in their link to the next page.
        key = f"listing:{place.number}:{place.size}"
        kept: ListingPage | None = caches["listing"].get(key)
        if kept is None:
            kept = self.page_of(self.counted(), place)
            caches["listing"].add(key, kept, self.keep_s)
        return kept


def _is_visible(page: ListingPage, viewer_id: int) -> bool:
    # Without a filter on deleted_at: SQLite would scan the index of all live posts.
    posts = visible(Post.objects.filter(id__in=[post.id for post in page.posts]), viewer_id)
    found: list[Any] = list(posts.values_list("deleted_at", flat=True))
    return found == [None] * len(page.posts)


listings: BackendHandler[Listing] = BackendHandler(choice="FEED_LISTING", table="FEED_LISTINGS")


def get_listing() -> Listing:
    """Return the listing that the setting FEED_LISTING names."""
    return listings.current

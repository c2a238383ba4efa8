from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

from django.db.models import QuerySet

from feed.models import Post, PostQuerySet
from feed.visibility import visible

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

    def page(
        self,
        *,
        viewer_id: int,
        number: int | None,
        after: Position | None,
        size: int,
        fresh: bool = False,
    ) -> ListingPage:
        """Return a page, the first one if neither a number nor a position is given.

        ``fresh``: the client has just written, and must see its write.
        """
        return self.page_of(visible(self.counted(), viewer_id), number, after, size)

    def page_of(
        self, counted: PostQuerySet, number: int | None, after: Position | None, size: int
    ) -> ListingPage:
        """Return a page of these posts."""
        posts: QuerySet[Post] = counted.order_by("-likes", "-id")  # type: ignore[misc]
        if after is not None:
            # Not "fewer likes or …": an index range needs one condition on its first column.
            posts = posts.filter(likes__lte=after.likes)  # type: ignore[misc]
            posts = posts.exclude(likes=after.likes, id__gte=after.id)  # type: ignore[misc]
        start = ((number or 1) - 1) * size
        found = list(posts[start : start + size + 1])
        if len(found) <= size:
            return ListingPage(found, None)
        return ListingPage(found[:size], self._next(number, after, found[size - 1]))

    def _next(self, number: int | None, after: Position | None, last: Post) -> tuple[str, str]:
        if after is not None or number == MAX_PAGE or (number is None and self.keyset):
            return "after", str(Position.of(last))
        return "page", str((number or 1) + 1)

"""Selectors: everything that reads posts."""

from typing import NamedTuple

from django.db.models import Func, Subquery
from redis.exceptions import RedisError

from feed import epochs
from feed.hydration import hydrate, mark_command
from feed.models import AGE, AuthorChange, FollowChange, Poison, Post
from feed.timeline import read_page
from feed.timeline_stores import get_timeline_store
from feed.visibility import visible

MOST_IDS = 500
"""Ids that a feed is read by at a time."""


class PostPage(NamedTuple):
    posts: list[Post]
    """Posts, newest first."""
    next_before: int | None
    """The next page holds posts before this id; None at the end."""


class Feed(NamedTuple):
    posts: dict[int, bytes]
    """Post id → JSON (``feed.hydration``), newest first."""
    next_before: int | None


class Backlog(NamedTuple):
    posts: int
    oldest_age_s: float | None
    """Age of the oldest pending post in seconds; None without a backlog."""


class PoisonPosts(NamedTuple):
    posts: int
    """Posts that cannot be delivered."""
    oldest_ids: list[int]
    """At most ten."""


def read_timeline(*, owner_id: int, before: int | None, limit: int) -> Feed:
    """Return a page of a person's feed: their timeline's posts without deleted ones.

    It may have fewer posts than ``limit``, or none, and others behind it.
    """
    posts: dict[int, bytes] = {}
    store = get_timeline_store()
    mark, along = None, mark_command(store.servers.url)
    for size in (limit + 1, 2 * limit, MOST_IDS, MOST_IDS):  # an author's posts may all be hidden
        ids, reply = read_page(store, owner_id, before=before, limit=size, along=along)
        if reply is not None:
            mark, along = reply, None
        posts |= hydrate(ids, mark)
        before = ids[-1] if len(ids) == size else None
        if before is None or len(posts) > limit:
            break
    shown = list(posts)[:limit]
    following = shown[-1] if len(posts) > limit else before
    return Feed({post_id: posts[post_id] for post_id in shown}, following)


def readable_post(post_id: int, *, viewer_id: int) -> Post:
    """Return a post that the viewer may read. Raises Post.DoesNotExist."""
    return visible(Post.objects.live(), viewer_id).get(id=post_id)


def posts_by(*, author_id: int, viewer_id: int, before: int | None, limit: int) -> PostPage:
    """Return a page of one person's own posts, as far as the viewer may read them."""
    posts = visible(Post.objects.live(), viewer_id).filter(author_id=author_id).order_by("-id")
    if before is not None:
        posts = posts.filter(id__lt=before)
    found = list(posts[: limit + 1])
    return PostPage(found[:limit], found[limit - 1].id if len(found) > limit else None)


def backlog() -> Backlog:
    """Return the backlog by one statement, since a probe may ask a database that is far away."""
    # The index has the ids but not the times, and a backlog may be a million posts long.
    pending = Post.objects.pending()
    oldest_id = pending.values_list(Func("id", function="MIN"))[:1]
    count = Subquery(pending.values_list(Func("id", function="COUNT")))
    found = Post.objects.filter(id=Subquery(oldest_id)).values_list(count, AGE).first()
    if found is None:
        return Backlog(0, None)
    posts, oldest_age = found
    return Backlog(posts, max(0.0, oldest_age.total_seconds()))  # a clock may have been put back


def poison() -> PoisonPosts:
    """Return the posts that wait for another try to deliver them."""
    waiting = Poison.objects.filter(post__delivered_at=None)
    oldest = waiting.order_by("post_id").values_list("post_id", flat=True)[:10]
    return PoisonPosts(waiting.count(), list(oldest))


def store_state() -> str:
    """Return "ok", or why the timeline store can't be used: the database answers for it."""
    store = get_timeline_store()
    try:
        return epochs.reason_unusable(store) or "ok"
    except RedisError as error:
        return f"unavailable: {error}"


def unfinished_changes() -> int:
    """Return the number of changes that timelines or posts don't show yet."""
    return FollowChange.objects.count() + AuthorChange.objects.count()

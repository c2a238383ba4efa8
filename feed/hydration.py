"""Turning post ids into posts: one call to the cache, and one query for what it doesn't have.

A post never changes but by its deletion. That first puts a mark into the cache, which sends
readers to the database and which a late reader can't overwrite with what it read before. So what
is deleted never shows, whether the deletion commits, rolls back or dies in between.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from django.core.cache import cache

from feed.models import Post

KEEP_S = 300
ASK_THE_DATABASE: dict[str, Any] = {}
FIELDS = ("author_id", "body", "created_at")


def hydrate(ids: Sequence[int]) -> list[Post]:
    """Return the live posts with these ids, in their order."""
    cached = cache.get_many([_key(post_id) for post_id in ids])
    posts = {
        post_id: Post(id=post_id, **fields)
        for post_id in ids
        if (fields := cached.get(_key(post_id)))
    }
    posts |= _read([post_id for post_id in ids if post_id not in posts])
    return [posts[post_id] for post_id in ids if post_id in posts]


def forget(post_id: int) -> None:
    """Send readers to the database for this post; to be called before it is deleted."""
    cache.set(_key(post_id), ASK_THE_DATABASE, 2 * KEEP_S)


def _read(ids: Iterable[int]) -> dict[int, Post]:
    posts = Post.objects.live().in_bulk(list(ids)) if ids else {}
    for post in posts.values():
        cache.add(_key(post.id), _fields(post), KEEP_S)
    return posts


def _fields(post: Post) -> dict[str, Any]:
    return {name: getattr(post, name) for name in FIELDS}


def _key(post_id: int) -> str:
    return f"post:{post_id}"

"""Hydration: post ids to posts, with one call to the cache and one query for the misses.

Hundreds of people read the same posts, so the cache holds each post as the JSON of the answer
(docs/decisions/0024). A post never changes except by deletion. A deletion first puts a marker into
the cache: it sends readers to the database, and a late reader can't overwrite it with the post. So
a deleted post never shows, whether the deletion commits, rolls back or dies in between.
"""

import json
from collections.abc import Sequence

from django.core.cache import caches

from feed import epochs
from feed.models import Post
from feed.serializers import PostSerializer
from feed.timeline_stores import get_timeline_store

KEEP_S = 300
ASK_THE_DATABASE = b""
SERIALIZER = PostSerializer()
ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def hydrate(ids: Sequence[int]) -> dict[int, bytes]:
    """Return the live posts with these ids, in their order, each as JSON (``PostSerializer``)."""
    prefix = _prefix()
    keys = {post_id: f"{prefix}{post_id}" for post_id in ids}
    cached = caches["posts"].get_many(keys.values())
    posts = {post_id: cached.get(key, ASK_THE_DATABASE) for post_id, key in keys.items()}
    missing = [post_id for post_id, post in posts.items() if post == ASK_THE_DATABASE]
    if not missing:
        return posts
    posts |= _read(missing, prefix)
    return {post_id: post for post_id, post in posts.items() if post}


def forget(*post_ids: int) -> None:
    """Send readers to the database for these posts; to be called before they are deleted."""
    prefix = _prefix()
    markers = {f"{prefix}{post_id}": ASK_THE_DATABASE for post_id in post_ids}
    caches["posts"].set_many(markers, 2 * KEEP_S)


def _read(ids: Sequence[int], prefix: str) -> dict[int, bytes]:
    # With a filter on deleted_at, SQLite would scan the index of all live posts.
    found = Post.objects.in_bulk(ids).values()
    posts = {post.id: _json(post) for post in found if post.deleted_at is None}
    for post_id, post in posts.items():
        caches["posts"].add(f"{prefix}{post_id}", post, KEEP_S)
    return posts


def _json(post: Post) -> bytes:
    return ENCODER.encode(SERIALIZER.to_representation(post)).encode()


def _prefix() -> str:
    """Return what keys begin with: a database that was restored hands ids out again."""
    return f"post:{epochs.current(get_timeline_store()).number:x}:"

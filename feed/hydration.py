"""Hydration: post ids to posts, with one call to the cache and one query for the misses.

Hundreds of people read the same posts, so the cache holds each post as the JSON of the answer
(docs/decisions/0024). A post never changes except by deletion. A deletion first puts a marker into
the cache: it sends readers to the database, and a late reader can't overwrite it with the post. So
a deleted post never shows, whether the deletion commits, rolls back or dies in between.

A process keeps what it got from the cache for as long as the *mark* there is the same, which every
deletion changes after it has put its markers. The mark is read together with the timeline, before
the posts: a feed of posts that are kept costs one exchange with Redis (docs/decisions/0024).
"""

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from django.conf import settings
from django.core.cache import caches
from django_redis import get_redis_connection
from django_redis.exceptions import ConnectionInterrupted
from redis.exceptions import RedisError

from feed import epochs
from feed.models import Post
from feed.serializers import PostSerializer
from feed.timeline_stores import get_timeline_store
from feed.timeline_stores.base import Command
from feed.timeline_stores.redis_servers import pipelined
from runtime.remembered import Remembered

KEEP_S = 300
MOST_KEPT = 10_000
"""Posts that a process keeps before it begins anew."""
ASK_THE_DATABASE = b""
SERIALIZER = PostSerializer()
ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


_kept = Remembered(dict[tuple[str, bytes], dict[int, bytes]], for_s=KEEP_S)
"""Posts that this process got from the cache, by prefix and mark."""


def mark_command(url: str) -> Command | None:
    """Return the command that reads the mark, if the cache is in the Redis at this URL."""
    is_there = url and url == settings.CACHES["posts"].get("LOCATION")
    return ("GET", str(caches["posts"].make_key(_mark_key()))) if is_there else None


def hydrate(ids: Sequence[int], mark: bytes | None = None) -> dict[int, bytes]:
    """Return the live posts with these ids, in their order, each as JSON (``PostSerializer``).

    ``mark``: as it was before the ids were read, empty if there was none; then this process may
    answer with posts that it has kept. Without an answer of Redis, the database has the rest.
    """
    posts: dict[int, bytes] = {}
    prefix = _prefix()
    with suppress(RedisError, ConnectionInterrupted):
        held = {} if mark is None else _kept_under(prefix, mark)
        posts = {post_id: held[post_id] for post_id in ids if post_id in held}
        if missing := [post_id for post_id in ids if post_id not in posts]:
            cached = _cached(missing, prefix)
            posts |= cached
            held |= cached
    if missing := [post_id for post_id in ids if post_id not in posts]:
        found = _read(missing)
        with suppress(RedisError, ConnectionInterrupted):
            _keep(found, prefix)
        posts |= found
    return {post_id: posts[post_id] for post_id in ids if post_id in posts}


def forget(*post_ids: int) -> None:
    """Send readers to the database for these posts; to be called before they are deleted."""
    prefix = _prefix()
    markers = {f"{prefix}{post_id}": ASK_THE_DATABASE for post_id in post_ids}
    # In this order: who reads the new mark must find the markers.
    caches["posts"].set_many(markers | {_mark_key(): secrets.token_bytes(8)}, 2 * KEEP_S)


@contextmanager
def forgetting(*post_ids: int) -> Iterator[None]:
    """Forget posts that the block deletes, and once more if an epoch has begun meanwhile: its
    readers may have cached them under its number before."""
    before = _prefix()
    forget(*post_ids)
    yield
    epochs.forget()
    if _prefix() != before:
        forget(*post_ids)


def _kept_under(prefix: str, mark: bytes) -> dict[int, bytes]:
    """Return what this process has kept, to be added to."""
    if not mark:
        caches["posts"].add(_mark_key(), secrets.token_bytes(8), 2 * KEEP_S)
        return {}
    posts = _kept.get().get((prefix, mark))
    if posts is None or len(posts) >= MOST_KEPT:
        _kept.forget()
        posts = _kept.get().setdefault((prefix, mark), {})
    return posts


def _cached(ids: Sequence[int], prefix: str) -> dict[int, bytes]:
    """Return those of the posts that the cache has."""
    keys = {f"{prefix}{post_id}": post_id for post_id in ids}
    found = caches["posts"].get_many(keys)
    return {keys[key]: post for key, post in found.items() if post != ASK_THE_DATABASE}


def _read(ids: Sequence[int]) -> dict[int, bytes]:
    # With a filter on deleted_at, SQLite would scan the index of all live posts.
    found = Post.objects.in_bulk(ids).values()
    return {
        post.id: ENCODER.encode(SERIALIZER.to_representation(post)).encode()
        for post in found
        if post.deleted_at is None
    }


def _keep(posts: Mapping[int, bytes], prefix: str) -> None:
    """Add posts to the cache, all at once; it goes without those that it refuses to keep."""
    url, key = settings.CACHES["posts"].get("LOCATION"), caches["posts"].make_key
    if url and posts:
        names = {str(key(f"{prefix}{post_id}")): post for post_id, post in posts.items()}
        client = get_redis_connection("posts")
        pipelined(client, [("SET", *pair, "NX", "EX", KEEP_S) for pair in names.items()])


def _mark_key() -> str:
    return f"{_prefix()}mark"


def _prefix() -> str:
    """Return what keys begin with: a database that was restored hands ids out again."""
    return f"post:{epochs.get_or_begin(get_timeline_store()).number:x}:"

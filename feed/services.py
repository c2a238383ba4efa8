"""What people do: everything that writes posts."""

import hashlib
from contextlib import nullcontext
from typing import NamedTuple

from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from accounts.models import Person
from feed.fanout import get_fanout
from feed.hydration import forget
from feed.models import IdempotencyKey, Post


class Published(NamedTuple):
    post: Post
    replayed: bool
    """An earlier request with the same idempotency key had made the post."""


class UnknownAuthor(Exception):
    """The author has no account (any more)."""


class KeyReused(Exception):
    """The idempotency key stands for a post with another body."""


def publish_post(*, author_id: int, body: str, idempotency_key: str | None = None) -> Published:
    """Write a post and hand it to the strategy, in one transaction.

    When this returns, the post and everything that its delivery needs are committed. With an
    idempotency key the same author and body get the first post again. Raises UnknownAuthor,
    KeyReused, or Post.DoesNotExist if the first post has been deleted.
    """
    one_statement = idempotency_key is None and not get_fanout().writes
    try:
        # The INSERT alone is a transaction too (docs/decisions/0010).
        with nullcontext() if one_statement else transaction.atomic():
            post = Post.objects.create(author_id=author_id, body=body)
            if idempotency_key is not None:
                _promise(post, idempotency_key)
            get_fanout().publish(post)
    except IntegrityError:
        if not Person.objects.filter(id=author_id).exists():
            raise UnknownAuthor from None
        if idempotency_key is None:
            raise
        return Published(_promised_post(author_id, body, idempotency_key), replayed=True)
    if not hasattr(post.created_at, "tzinfo"):
        post.refresh_from_db(fields=["created_at"])  # MySQL has no INSERT … RETURNING
    return Published(post, replayed=False)


def delete_post(*, person_id: int, post_id: int) -> None:
    """Delete one's own post. Raises Post.DoesNotExist or PermissionDenied.

    Its deliveries stay where they are: reading a feed leaves deleted posts out.
    """
    if Post.objects.live().get(id=post_id).author_id != person_id:
        raise PermissionDenied("Only its author can delete a post.")
    forget(post_id)
    if not Post.objects.live().filter(id=post_id).update(body="", deleted_at=Now()):
        raise Post.DoesNotExist  # another request was quicker


def _promise(post: Post, key: str) -> None:
    IdempotencyKey.objects.create(
        author_id=post.author_id, key_sha256=_sha256(key), body_sha256=_sha256(post.body), post=post
    )


def _promised_post(author_id: int, body: str, key: str) -> Post:
    promise = IdempotencyKey.objects.get(author_id=author_id, key_sha256=_sha256(key))
    if promise.body_sha256 != _sha256(body):
        raise KeyReused
    return Post.objects.live().get(id=promise.post_id)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()

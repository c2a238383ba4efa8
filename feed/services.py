"""Services: everything that writes posts."""

import hashlib
from contextlib import nullcontext
from typing import NamedTuple

from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from rest_framework.exceptions import APIException

from accounts.models import Person
from accounts.services import UnknownPerson
from feed import backlog
from feed.hydration import forgetting
from feed.models import IdempotencyKey, Post
from feed.statements import insert_post
from feed.strategies import get_strategy
from feed.visibility import visible


class Published(NamedTuple):
    post: Post
    replayed: bool
    """An earlier request with the same idempotency key created the post."""


class KeyReused(APIException):
    """The idempotency key was used for a post with another body; the API answers 422."""

    status_code = 422
    default_detail = "This Idempotency-Key was used for a post with another body."
    default_code = "idempotency_key_reused"


def publish_post(*, author_id: int, body: str, idempotency_key: str | None = None) -> Published:
    """Write a post and hand it to the strategy, in one transaction.

    When this returns, the post and everything that its delivery needs are committed. With an
    idempotency key the same author and body return the first post again. Raises UnknownPerson,
    KeyReused, Post.DoesNotExist if the first post has been deleted, or BacklogFull.
    """
    backlog.confirm_room(author_id)
    one_statement = idempotency_key is None and not get_strategy().writes_with_post
    try:
        # The INSERT alone is a transaction too (docs/decisions/0010).
        with nullcontext() if one_statement else transaction.atomic():
            post = insert_post(author_id, body)
            if idempotency_key is not None:
                _promise(post, idempotency_key)
            get_strategy().publish(post)
    except IntegrityError:
        if not Person.objects.filter(id=author_id, is_active=True).exists():
            raise UnknownPerson from None
        if idempotency_key is None:
            raise
        return Published(_promised_post(author_id, body, idempotency_key), replayed=True)
    return Published(post, replayed=False)


def delete_post(*, person_id: int, post_id: int) -> None:
    """Delete one's own post. Raises Post.DoesNotExist or PermissionDenied.

    Its deliveries stay in the timelines: feeds leave deleted posts out.
    """
    if visible(Post.objects.live(), person_id).get(id=post_id).author_id != person_id:
        raise PermissionDenied("Only its author can delete a post.")
    with forgetting(post_id):
        if not Post.objects.live().filter(id=post_id).update(body="", deleted_at=Now()):
            raise Post.DoesNotExist  # a concurrent request deleted it first


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

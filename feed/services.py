"""Services: everything that writes posts and likes."""

import hashlib
from contextlib import nullcontext
from typing import NamedTuple

from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.db.models import F
from django.db.models.functions import Now

from accounts.models import Person
from accounts.services import UnknownPerson
from feed import backlog
from feed.hydration import forgetting
from feed.models import IdempotencyKey, Like, Post
from feed.statements import insert_post
from feed.strategies import get_strategy
from feed.visibility import visible

MOST_UNLIKED = 500
"""Likes that are removed in one transaction."""


class Published(NamedTuple):
    post: Post
    replayed: bool
    """An earlier request with the same idempotency key created the post."""


class KeyReused(Exception):
    """The idempotency key was used for a post with another body."""


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


def like_post(*, person_id: int, post_id: int) -> None:
    """Like a post; repeating it changes nothing. Raises Post.DoesNotExist or UnknownPerson."""
    try:
        with transaction.atomic():
            _lock(post_id, person_id)
            like = Like(post_id=post_id, person_id=person_id)
            if not Like.objects.filter(pk=like.pk).exists():
                like.save(force_insert=True)
                _count_likes(post_id, 1)
    except IntegrityError:
        raise UnknownPerson from None


def unlike_post(*, person_id: int, post_id: int) -> None:
    """Remove a like; repeating it changes nothing. Raises Post.DoesNotExist."""
    with transaction.atomic():
        _lock(post_id, person_id)
        taken_back, _ = Like.objects.filter(post_id=post_id, person_id=person_id).delete()
        _count_likes(post_id, -taken_back)


def unlike_everything(person_id: int) -> None:
    """Remove all likes of a person, some at a time."""
    likes = Like.objects.filter(person_id=person_id)
    liked = sorted(likes.values_list("post_id", flat=True))
    for start in range(0, len(liked), MOST_UNLIKED):
        some = liked[start : start + MOST_UNLIKED]
        with transaction.atomic():
            posts = Post.objects.filter(id__in=some).order_by("id")
            list(posts.select_for_update().values_list("id"))
            theirs = likes.filter(post_id__in=some)
            left = list(theirs.values_list("post_id", flat=True))
            theirs.delete()
            Post.objects.filter(id__in=left).update(like_count=F("like_count") - 1)


def _lock(post_id: int, person_id: int) -> None:
    """Lock a post that the person may read; every change of its likes takes this lock first."""
    posts = visible(Post.objects.live(), person_id)
    posts.select_for_update().only("id").get(id=post_id)


def _count_likes(post_id: int, more: int) -> None:
    if more:
        Post.objects.filter(id=post_id).update(like_count=F("like_count") + more)


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

"""Delivering posts: the one place where timelines are written and receipts are set."""

import logging
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q
from django.db.models.functions import Now
from redis.exceptions import RedisError, ResponseError

from feed import batches, celebrities, epochs, friendships, people, statements
from feed.models import MAX_ERROR_CHARACTERS, Poison, Post, PostQuerySet
from feed.signals import receipts_set
from feed.strategies import get_strategy
from feed.timeline_stores import get_timeline_store

logger = logging.getLogger(__name__)

Claim = Callable[[int], Sequence[Post]]
"""Locks at most so many posts of the backlog in the caller's transaction, oldest id first."""
REFUSALS = ("MISCONF", "NOREPLICAS", "BUSY")
"""Codes of a Redis that refuses all writes, as far as redis-py has no class for them."""
LONGEST_PAUSE_S = 600
HEAL_EVERY_S = 1.0
_healed_at = float("-inf")


def deliver(posts: Sequence[Post]) -> None:
    """Put the posts into every timeline that they are due in, then set their receipts.

    Safe to repeat. The receipts are set only after the store has confirmed; if anything raises,
    the posts stay in the backlog.
    """
    store = get_timeline_store()
    with transaction.atomic(savepoint=False):  # an exception ends the caller's transaction too
        epochs.confirm(store)
        store.deliver(posts)
        set_receipts(posts)


def set_receipts(posts: Sequence[Post]) -> None:
    """Set the receipts of posts whose deliveries are all confirmed; a receipt never changes."""
    ids = [post.id for post in posts]
    if not ids:
        return
    count = statements.set_receipts(ids)
    receipts_set.send(Post, post_ids=ids, count=count)


def deliver_one(post_id: int) -> None:
    """Claim one post and deliver it, unless it has its receipt or is claimed already."""
    with transaction.atomic():
        posts = Post.objects.pending().select_for_update(skip_locked=True).filter(id=post_id)
        deliver(list(posts))


def deliver_pending(limit: int) -> int:
    """Claim up to ``limit`` posts of the backlog, oldest id first, and deliver them as one batch.

    It claims fewer for a while after an error, and leaves claimed posts that would be too many
    deliveries to the next batch (``feed.batches``). Posts that the strategy may still be
    delivering itself are left alone (``Strategy.grace_s``), and so are posts that are set aside.
    A batch that fails is delivered in halves, until the post that fails is alone and is set aside
    too. Raises the error of a server that is away.

    Returns how many were claimed; 0 means that there was nothing to claim. The claim is the rows'
    locks (on SQLite the database's), held until the receipts commit: a process that dies releases
    its posts by dying, and no two processes claim the same post.
    """
    _heal()
    # Don't take SQLite's write lock only to find nothing.
    is_waiting, is_any_aside = statements.look_at_backlog()
    if not is_waiting:
        return 0
    claim: Claim = statements.claim
    if is_any_aside or get_strategy().grace_s:
        backlog = _due()
        if not backlog.exists():
            return 0
        claim = partial(_claim, backlog)
    with batches.size.within(limit) as most:
        return _deliver_claimed(claim, most)


def _heal() -> None:
    """Look once per second whether the store is still the database's, and what died half-way."""
    global _healed_at
    if time.monotonic() < _healed_at + HEAL_EVERY_S:
        return
    store = get_timeline_store()
    epochs.check(store)
    celebrities.advance(store, per_s=batches.pace.per_s)
    friendships.finish_changes()
    people.finish_changes()
    _healed_at = time.monotonic()


def _due() -> PostQuerySet:
    """Return the posts that are neither set aside nor left to the strategy."""
    backlog = Post.objects.pending().due()
    if get_strategy().grace_s:
        past = Q(created_at__lt=Now() - timedelta(seconds=get_strategy().grace_s))
        backlog = backlog.filter(past | Q(created_at__gt=Now()))  # a clock may have been put back
    return backlog


def _claim(backlog: PostQuerySet, limit: int) -> Sequence[Post]:
    claim = backlog.select_for_update(skip_locked=True).only("id", "author_id", "created_at")
    return list(claim.order_by("id")[:limit])


def _deliver_claimed(claim: Claim, limit: int) -> int:
    posts: list[Post] = []
    try:
        with transaction.atomic():
            posts += claim(limit)
            if bounded := batches.bounded(posts):
                with batches.pace.of(bounded):
                    deliver(bounded)
    except Exception as error:  # stores and their clients may raise anything
        if not posts or not _may_blame_a_post(error):
            raise
        if len(posts) == 1:
            _set_aside(posts[0], error)
        else:
            _deliver_halves([post.id for post in posts])
    return len(posts)


def _may_blame_a_post(error: Exception) -> bool:
    """Tell whether an error may be about one post, and not about a server that takes no write."""
    if isinstance(error, RedisError):
        # redis-py has a class for most states of a server; what is left is about the keys.
        refused = any(code in str(error) for code in REFUSALS)
        return type(error) is ResponseError and not refused
    return not isinstance(error, (OperationalError, InterfaceError))


def _deliver_halves(post_ids: Sequence[int]) -> None:
    middle = len(post_ids) // 2
    for half in (post_ids[:middle], post_ids[middle:]):
        _deliver_claimed(partial(_claim, Post.objects.pending().filter(id__in=half)), len(half))


def _set_aside(post: Post, error: Exception) -> None:
    """Let a post wait twice as long as after its last failure."""
    text = f"{type(error).__name__}: {error}"
    poison, is_new = Poison.objects.get_or_create(post=post)
    if is_new:
        logger.error("post %s cannot be delivered and is set aside: %s", post.id, text)
    pause = timedelta(seconds=min(2**poison.failures, LONGEST_PAUSE_S))
    poison.failures += 1
    poison.retry_at = Now() + pause
    poison.error = text[:MAX_ERROR_CHARACTERS]
    poison.save()
    Poison.objects.exclude(post__delivered_at=None).delete()

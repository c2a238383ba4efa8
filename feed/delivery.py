"""Delivering posts: claim, batch, deliver, receipt, poison."""

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from datetime import timedelta
from functools import partial

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now
from redis.exceptions import RedisError, ResponseError

from accounts import limits
from accounts.limits import Limited
from feed import batches, celebrities, epochs, follows, people, statements
from feed.models import MAX_ERROR_CHARACTERS, Poison, Post, PostQuerySet
from feed.signals import receipts_set
from feed.strategies import get_strategy
from feed.timeline_stores import get_timeline_store
from runtime.remembered import Pause, Remembered

logger = logging.getLogger(__name__)

Claim = Callable[[int], Sequence[Post]]
"""Locks at most so many posts of the backlog in the caller's transaction, oldest id first."""
REFUSALS = ("MISCONF", "NOREPLICAS", "BUSY")
"""Codes of a Redis that refuses all writes, as far as redis-py has no class for them."""
LONGEST_PAUSE_S = 600
RETRY_SHARE = 0.1
"""Most of a process's time that is spent on posts that are set aside."""
LOOK_AFTER_EVERY_S = 1.0
LOOK_AFTER_WITHIN_S = 2.0
"""After this time no further change is finished before the next batch."""
LOOK_AFTER_LEASE_S = 10.0
"""A process that died while it looked after the store hinders the others for this time."""
_pause_after_look, _pause_after_retry = Pause(), Pause()
_failed_alone = Remembered(set[int], for_s=3600)
"""Posts that this process could not deliver in a batch of their own."""


def deliver_one(post_id: int) -> None:
    """Claim one post and deliver it, unless it has its receipt or is claimed already."""
    with transaction.atomic():
        posts = Post.objects.pending().select_for_update(skip_locked=True).filter(id=post_id)
        deliver(list(posts))


def deliver_pending(limit: int) -> int:
    """Claim up to ``limit`` posts of the backlog, oldest id first, and deliver them as one batch.

    It claims fewer for a while after an error, and leaves claimed posts that would be too many
    deliveries to the next batch (``feed.batches``). Posts that the strategy may still be
    delivering itself are left alone (``Strategy.grace_s``). A batch that fails is delivered in
    halves, or as smaller batches later, until the post that fails is alone; then it may be set
    aside (``_is_to_blame``). Raises the error of a server that is away.

    Returns how many were claimed; 0 means that there was nothing to claim. The claim is the rows'
    locks (on SQLite the database's), held until the receipts commit: a process that dies releases
    its posts by dying, and no two processes claim the same post.
    """
    _look_after_store()
    # Don't take SQLite's write lock only to find nothing.
    is_waiting, is_any_aside = statements.look_at_backlog()
    if not is_waiting:
        return 0
    if not is_any_aside and not get_strategy().grace_s:
        return _deliver_batch(statements.claim, limit)
    claimed = _deliver_some(_due(), limit)
    return claimed + (_try_again() if is_any_aside else 0)


def _deliver_batch(claim: Claim, limit: int) -> int:
    with batches.size.within(limit) as most:
        return _deliver_claimed(claim, most)


def _deliver_some(backlog: PostQuerySet, limit: int) -> int:
    return _deliver_batch(partial(_claim, backlog), limit) if backlog.exists() else 0


def _try_again() -> int:
    """Try one of the posts again that were set aside; each may fail slowly, so not all the time."""
    if not _pause_after_retry.is_over():
        return 0
    began_at = time.monotonic()
    its_turn = Poison.objects.filter(post=OuterRef("pk"), retry_at__lte=Now())
    tried = _deliver_some(Post.objects.pending().filter(Exists(its_turn)), 1)
    _pause_after_retry.begin((time.monotonic() - began_at) / RETRY_SHARE)
    return tried


def _look_after_store() -> None:
    """Look once per second whether the store is still the database's, and what died half-way.

    One process at a time finishes what died. All look at the store: a restored database may have
    the lease of a process that is gone. What fails stops neither the other steps nor deliveries.
    """
    if not _pause_after_look.is_over():
        return
    began_at = time.monotonic()
    store, until = get_timeline_store(), began_at + LOOK_AFTER_WITHIN_S
    steps: list[Callable[[], object]] = [partial(epochs.renew_if_lost, store)]
    with ExitStack() as held:
        with suppress(Limited):
            held.enter_context(limits.lease("heal", for_s=LOOK_AFTER_LEASE_S))
            steps += (
                partial(celebrities.continue_crossings, store, per_s=batches.pace.per_s),
                partial(follows.finish_changes, until=until),
                partial(people.finish_changes, until=until),
                _forget_delivered_poison,
            )
        for step in steps:
            try:
                step()
            except Exception:
                logger.warning("a step of healing failed", exc_info=True)
    took_s = time.monotonic() - began_at
    # Deliveries have half of the time.
    _pause_after_look.begin(took_s if took_s > LOOK_AFTER_WITHIN_S else LOOK_AFTER_EVERY_S)


def _forget_delivered_poison() -> None:
    delivered = Poison.objects.exclude(post__delivered_at=None)
    if delivered.exists():  # don't take SQLite's write lock for nothing
        delivered.delete()


def _due() -> PostQuerySet:
    """Return the posts that are neither set aside nor left to the strategy."""
    backlog = Post.objects.pending().not_set_aside()
    if get_strategy().grace_s:
        past = Q(created_at__lt=Now() - timedelta(seconds=get_strategy().grace_s))
        backlog = backlog.filter(past | Q(created_at__gt=Now()))  # a clock may have been put back
    return backlog


def _claim(backlog: PostQuerySet, limit: int) -> Sequence[Post]:
    claim = backlog.select_for_update(skip_locked=True).only("id", "author_id", "created_at")
    return list(claim.order_by("id")[:limit])


def _deliver_claimed(claim: Claim, limit: int) -> int:
    posts: list[Post] = []
    batch: Sequence[Post] = []
    try:
        with transaction.atomic():
            posts += claim(limit)
            if batch := batches.bounded(posts):
                with batches.pace.of(batch):
                    deliver(batch)
    except Exception as error:  # stores and their clients may raise anything
        if len(batch) > 1 and _may_be_about_a_post(error):
            _deliver_halves([post.id for post in batch])
        elif len(batch) == 1 and _is_to_blame(batch[0], error):
            _set_aside(batch[0], error)
        else:
            raise
    return len(posts)


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


def _may_be_about_a_post(error: Exception) -> bool:
    """Tell whether an error is rather about one post than about a server that takes no write."""
    if isinstance(error, RedisError):
        # redis-py has a class for most states of a server; what is left is about the keys.
        refused = any(code in str(error) for code in REFUSALS)
        return type(error) is ResponseError and not refused
    return not isinstance(error, (OperationalError, InterfaceError))


def _is_to_blame(post: Post, error: Exception) -> bool:
    """Tell whether a post that failed alone fails because of itself.

    It does if the store takes another delivery right after that. An error that looks like the
    server's (too large a packet, a statement that took too long) has to come twice: the server may
    just have been restarted.
    """
    failed = _failed_alone.get()
    failed_before = post.id in failed
    failed.add(post.id)
    return (failed_before or _may_be_about_a_post(error)) and _takes_deliveries(post)


def _takes_deliveries(post: Post) -> bool:
    """Try the smallest delivery that is known to have succeeded, else this post's to its author."""
    delivered = Post.objects.exclude(delivered_at=None).order_by("-delivered_at").first()
    known, store = delivered or post, get_timeline_store()
    try:
        with transaction.atomic():
            epochs.confirm(store)
            store.deliver_to(known, [known.author_id])
    except Exception:
        logger.warning("the store takes no delivery", exc_info=True)
        return False
    return True


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

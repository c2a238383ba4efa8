"""Changes between two people, and what they do to timelines."""

import logging
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from math import inf
from typing import TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from accounts import blocks, friendships, limits
from accounts.friendships import RequestState, friend_ids
from feed import epochs, journal
from feed.models import AuthorChange, FriendshipChange

logger = logging.getLogger(__name__)

Change = TypeVar("Change", FriendshipChange, AuthorChange)
LEFT_BEHIND_S = 5
"""Age of a change that its process didn't finish."""
MOST_AT_ONCE = 500
"""Changes that are finished together."""


def ask(person_id: int, friend_id: int) -> RequestState:
    """Say that a person would like to be friends with another; they are once both have said so.

    Then each one's posts, earlier ones too, are in the other's feed. Repeating it changes nothing.
    Raises Limited, or like ``accounts.friendships.ask``.
    """
    if not friendships.have_asked(person_id, friend_id):
        limits.take(f"friend requests of {person_id}", **settings.FRIEND_REQUESTS)
    with transaction.atomic():
        answer = friendships.ask(person_id, friend_id)
        if answer is RequestState.ACCEPTED:
            _note(person_id, [friend_id])
    if answer is not RequestState.WAITING:
        _finish_between(person_id, friend_id)
    return answer


def unfriend(person_id: int, friend_id: int) -> None:
    """End a friendship, withdraw a request or decline one.

    Neither one's posts are in the other's feed any more. Repeating it changes nothing. Raises like
    ``accounts.friendships.unfriend``.
    """
    with transaction.atomic():
        if friendships.unfriend(person_id, friend_id):
            _note(person_id, [friend_id])
    _finish_between(person_id, friend_id)


def block(person_id: int, other_id: int) -> None:
    """Block somebody: neither finds the other's posts anywhere any more.

    Repeating it changes nothing. Raises like ``accounts.blocks.block``.
    """
    with transaction.atomic():
        if blocks.block(person_id, other_id):
            _note(person_id, [other_id])
    _finish_between(person_id, other_id)


def end_all(person_id: int) -> None:
    """End all friendships of a person, some at a time."""
    friends = friend_ids(person_id)
    while some := list(friends[:MOST_AT_ONCE]):
        with transaction.atomic():
            friendships.end_all(person_id, some)
            _note(person_id, some)
        _finish(list(FriendshipChange.objects.filter(person_id=person_id)))


def finish_changes(*, until: float = inf) -> None:
    """Finish the changes of processes that died after the commit, until this monotonic time."""
    finish_each(FriendshipChange, LEFT_BEHIND_S, until, lambda change: _finish([change]))


def finish_each(
    model: type[Change], age_s: float, until: float, finish: Callable[[Change], object]
) -> None:
    """Finish old changes; one that fails stops no other, and is tried again after them."""
    old = model.objects.filter(changed_at__lt=Now() - timedelta(seconds=age_s))
    for change in old.order_by("changed_at")[:MOST_AT_ONCE]:
        if time.monotonic() > until:
            return
        # First, since what fails may leave no connection.
        model.objects.filter(id=change.id).update(changed_at=Now())
        try:
            finish(change)
        except Exception:
            logger.exception("a change of person %s cannot be finished", change.person_id)


def _note(person_id: int, friend_ids: Sequence[int]) -> None:
    """Note changes whose timelines are still to be changed, in their transaction."""
    FriendshipChange.objects.bulk_create(
        FriendshipChange(person_id=person_id, friend_id=friend_id) for friend_id in friend_ids
    )


def _finish_between(person_id: int, friend_id: int) -> None:
    """Finish all changes between two people, also one that another process hasn't finished yet."""
    changed_at = time.monotonic()
    mine = Q(person_id=person_id, friend_id=friend_id)
    either = mine | Q(person_id=friend_id, friend_id=person_id)
    changes = list(FriendshipChange.objects.filter(either))
    if changes:
        _finish(changes)
        journal.wait_for_streams(changed_at)


def _finish(changes: Sequence[FriendshipChange]) -> None:
    """Leave everything so far to the database, in the timelines of both people of each change."""
    epochs.forget()  # a new one may have begun
    owners = {owner for change in changes for owner in (change.person_id, change.friend_id)}
    epochs.change(epochs.get_store(), owners)
    FriendshipChange.objects.filter(id__in=[change.id for change in changes]).delete()

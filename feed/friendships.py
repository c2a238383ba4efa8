"""Friendship changes, and what they do to timelines."""

from collections.abc import Callable
from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now

from accounts import friendships
from feed import epochs
from feed.due import newest_post_id
from feed.models import FriendshipChange
from feed.timeline_stores import get_timeline_store, timeline_stores

LEFT_BEHIND_S = 5
"""Age of a change that its process didn't finish."""


def befriend(person_id: int, friend_id: int) -> None:
    """Make two people friends: each one's posts, earlier ones too, are in the other's feed.

    Repeating it changes nothing. Raises Person.DoesNotExist, or ValueError if both are the same.
    """
    _change(friendships.befriend, person_id, friend_id)


def unfriend(person_id: int, friend_id: int) -> None:
    """End a friendship, if there is one: neither one's posts are in the other's feed any more.

    Raises like ``befriend``.
    """
    _change(friendships.unfriend, person_id, friend_id)


def finish_changes() -> None:
    """Finish the changes of processes that died after the commit."""
    long_ago = Now() - timedelta(seconds=LEFT_BEHIND_S)
    for change in FriendshipChange.objects.filter(changed_at__lt=long_ago)[:100]:
        _finish(change)


def _change(write: Callable[[int, int], None], person_id: int, friend_id: int) -> None:
    with transaction.atomic():
        write(person_id, friend_id)
        change = FriendshipChange.objects.create(person_id=person_id, friend_id=friend_id)
    _finish(change)


def _finish(change: FriendshipChange) -> None:
    """Leave everything so far to the database, in both timelines.

    A batch may still be on its way to them that was computed with the friends of before. It holds
    only posts that were committed before the change, and so none above the newest one now.
    """
    epochs.forget()  # a new one may have begun
    store = timeline_stores[epochs.current(get_timeline_store()).store]
    store.change([change.person_id, change.friend_id], through=newest_post_id())
    change.delete()

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

from accounts import blocks, follows, limits
from accounts.follows import Edge, RequestState
from feed import epochs, journal
from feed.models import AuthorChange, FollowChange

logger = logging.getLogger(__name__)

Change = TypeVar("Change", FollowChange, AuthorChange)
LEFT_BEHIND_S = 5
"""Age of a change that its process didn't finish."""
MOST_AT_ONCE = 500
"""Changes that are finished together."""


def ask(person_id: int, friend_id: int) -> RequestState:
    """Say that a person would like to be friends with another; they are once both have said so.

    Then each one's posts, earlier ones too, are in the other's feed. Repeating it changes nothing.
    Raises Limited, or like ``accounts.follows.ask``.
    """
    return _ask(follows.ask, person_id, friend_id, follows.both_ways(person_id, friend_id))


def follow(reader_id: int, author_id: int) -> RequestState:
    """Say that a person would like to read another's posts; those who are private have to accept.

    Then the author's posts, earlier ones too, are in the reader's feed. Repeating it changes
    nothing. Raises Limited, or like ``accounts.follows.follow``.
    """
    return _ask(follows.follow, reader_id, author_id, [Edge(author_id, reader_id)])


def accept(author_id: int, reader_id: int) -> None:
    """Let somebody who has asked read one's posts.

    Repeating it changes nothing. Raises like ``accounts.follows.accept``.
    """
    with transaction.atomic():
        if follows.accept(author_id, reader_id):
            _note([Edge(author_id, reader_id)])
    _finish_between(author_id, reader_id)


def unfriend(person_id: int, friend_id: int) -> None:
    """End a friendship, withdraw a request or decline one.

    Neither one's posts are in the other's feed any more. Repeating it changes nothing. Raises
    UnknownPerson.
    """
    _end(person_id, follows.both_ways(person_id, friend_id))


def unfollow(reader_id: int, author_id: int) -> None:
    """Read an author's posts no more, or withdraw a request. Otherwise as ``unfriend``."""
    _end(reader_id, [Edge(author_id, reader_id)])


def remove_follower(author_id: int, reader_id: int) -> None:
    """Let somebody read one's posts no more, or decline it. Otherwise as ``unfriend``."""
    _end(author_id, [Edge(author_id, reader_id)])


def block(person_id: int, other_id: int) -> None:
    """Block somebody: neither finds the other's posts anywhere any more.

    Repeating it changes nothing. Raises like ``accounts.blocks.block``.
    """
    with transaction.atomic():
        _note(blocks.block(person_id, other_id))
    _finish_between(person_id, other_id)


def end_all(person_id: int) -> None:
    """End all that a person reads, and all that is read of them, some at a time."""
    while True:
        with transaction.atomic():
            ended = follows.end_some(person_id, MOST_AT_ONCE)
            _note(ended)
        if not ended:
            return
        of_person = Q(author_id=person_id) | Q(reader_id=person_id)
        _finish(list(FollowChange.objects.filter(of_person)))


def finish_changes(*, until: float = inf) -> None:
    """Finish the changes of processes that died after the commit, until this monotonic time."""
    finish_each(FollowChange, LEFT_BEHIND_S, until, lambda change: _finish([change]))


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
            logger.exception("%s %s cannot be finished", model.__name__, change.id)


def _ask(
    ask: Callable[[int, int], RequestState], person_id: int, other_id: int, edges: Sequence[Edge]
) -> RequestState:
    if not follows.have_asked(edges):
        limits.take(f"friend requests of {person_id}", **settings.FRIEND_REQUESTS)
    with transaction.atomic():
        answer = ask(person_id, other_id)
        if answer is RequestState.ACCEPTED:
            _note(edges)
    if answer is not RequestState.WAITING:
        _finish_between(person_id, other_id)
    return answer


def _end(person_id: int, edges: Sequence[Edge]) -> None:
    with transaction.atomic():
        _note(follows.end(person_id, edges))
    _finish_between(*edges[0])


def _note(edges: Sequence[Edge]) -> None:
    """Note changes that timelines don't show yet, in their transaction."""
    FollowChange.objects.bulk_create(FollowChange(**edge._asdict()) for edge in edges)


def _finish_between(person_id: int, other_id: int) -> None:
    """Finish all changes between two people, also one that another process hasn't finished yet."""
    changed_at = time.monotonic()
    mine = Q(author_id=person_id, reader_id=other_id)
    either = mine | Q(author_id=other_id, reader_id=person_id)
    changes = list(FollowChange.objects.filter(either))
    if changes:
        _finish(changes)
        journal.wait_for_streams(changed_at)


def _finish(changes: Sequence[FollowChange]) -> None:
    """Leave everything so far to the database, in the timeline of the reader of each change."""
    epochs.forget()  # a new one may have begun
    epochs.change(epochs.get_store(), {change.reader_id for change in changes})
    FollowChange.objects.filter(id__in=[change.id for change in changes]).delete()

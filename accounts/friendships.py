"""Friendships and requests for them, and the versions by which friends may be cached.

Services call ``feed.friendships``, which changes the timelines too. Whatever changes what is
between two people locks both of them first, in the order of their ids (no deadlock).

Versions are random, not counted: a version that was rolled back, or that a restored database had
before, is never used again for other friendships.
"""

import secrets
from collections.abc import Collection
from enum import Enum, auto
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from accounts.limits import Limited
from accounts.models import Block, FriendRequest, Friendship, Person
from accounts.services import UnknownPerson

MOST_WAITING = 100
"""Requests of one person that wait for an answer."""
RETRY_AFTER_S = 60


class RequestState(Enum):
    WAITING = auto()
    """The other has not asked yet."""
    ACCEPTED = auto()
    """The other had asked: from now on they are friends."""
    FRIENDS = auto()
    """They were friends already."""


def ask(person_id: int, friend_id: int) -> RequestState:
    """Ask for a friendship; it begins once both have asked.

    Repeating it changes nothing. Raises Person.DoesNotExist (also for a friend who is deactivated,
    or if one has blocked the other), UnknownPerson, Limited, or ValueError if both are the
    same person.
    """
    if person_id == friend_id:
        raise ValueError("You cannot befriend yourself.")
    with transaction.atomic():
        if not lock(person_id, friend_id).get(friend_id) or _is_blocked(person_id, friend_id):
            raise Person.DoesNotExist
        if Friendship.objects.filter(person_id=person_id, friend_id=friend_id).exists():
            return RequestState.FRIENDS
        if FriendRequest.objects.filter(person_id=friend_id, friend_id=person_id).exists():
            _make_friends(person_id, friend_id)
            return RequestState.ACCEPTED
        _note_request(person_id, friend_id)
        return RequestState.WAITING


def have_asked(person_id: int, friend_id: int) -> bool:
    """Return whether one has asked the other, or they are friends."""
    pair = _between(person_id, friend_id)
    return FriendRequest.objects.filter(pair).exists() or Friendship.objects.filter(pair).exists()


def end(person_id: int, friend_id: int) -> bool:
    """End friendship and requests between two locked people; return whether they were friends."""
    FriendRequest.objects.filter(_between(person_id, friend_id)).delete()
    ended, _ = Friendship.objects.filter(_between(person_id, friend_id)).delete()
    if ended:
        renew_versions(Person.objects.filter(id__in=(person_id, friend_id)))
    return bool(ended)


def unfriend(person_id: int, friend_id: int) -> bool:
    """End a friendship, withdraw a request or decline one; return whether they were friends.

    Raises UnknownPerson.
    """
    with transaction.atomic():
        lock(person_id, friend_id)
        return end(person_id, friend_id)


def friend_ids(person_id: int) -> QuerySet[Any, int]:
    """Return the ids of a person's friends, also of those who are deactivated."""
    return Friendship.objects.filter(person_id=person_id).values_list("friend_id", flat=True)


def end_all(person_id: int, friend_ids: Collection[int]) -> None:
    """End a person's friendships with these friends, in the caller's transaction."""
    people = Person.objects.filter(id__in=[person_id, *friend_ids])
    list(people.order_by("id").select_for_update().values_list("id"))
    directions = Q(person_id=person_id, friend_id__in=friend_ids)
    directions |= Q(person_id__in=friend_ids, friend_id=person_id)
    Friendship.objects.filter(directions).delete()
    renew_versions(people)


def lock(person_id: int, other_id: int) -> dict[int, bool]:
    """Lock two people until the caller's transaction ends; return who of them is active, by id.

    Deleted people are left out. Raises UnknownPerson unless the first one is active.
    """
    pair = Person.objects.filter(id__in=(person_id, other_id)).order_by("id").select_for_update()
    active = {person.id: person.is_active for person in pair if not person.is_deleted}
    if not active.get(person_id):
        raise UnknownPerson
    return active


def renew_versions(people: QuerySet[Person]) -> None:
    """Invalidate the cached friends of these people."""
    people.update(friends_version=secrets.randbits(63))


def _make_friends(person_id: int, friend_id: int) -> None:
    pair = (person_id, friend_id)
    FriendRequest.objects.filter(_between(*pair)).delete()
    Friendship.objects.bulk_create(
        Friendship(person_id=a, friend_id=b) for a, b in (pair, pair[::-1])
    )
    renew_versions(Person.objects.filter(id__in=pair))


def _note_request(person_id: int, friend_id: int) -> None:
    waiting = FriendRequest.objects.filter(person_id=person_id)
    if waiting.filter(friend_id=friend_id).exists():
        return
    if waiting.filter(friend__is_active=True).count() >= MOST_WAITING:
        raise Limited(RETRY_AFTER_S)
    FriendRequest.objects.create(person_id=person_id, friend_id=friend_id)


def _is_blocked(person_id: int, other_id: int) -> bool:
    by_person = Q(person_id=person_id, other_id=other_id)
    by_other = Q(person_id=other_id, other_id=person_id)
    return Block.objects.filter(by_person | by_other).exists()


def _between(person_id: int, friend_id: int) -> Q:
    there = Q(person_id=person_id, friend_id=friend_id)
    return there | Q(person_id=friend_id, friend_id=person_id)

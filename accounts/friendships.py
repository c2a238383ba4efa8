"""Friendships, and the versions by which they may be cached.

Services call ``feed.friendships``, which changes the timelines too.

Versions are random, not counted: a version that was rolled back, or that a restored database had
before, is never used again for other friendships.
"""

import secrets

from django.db import transaction
from django.db.models import Q, QuerySet

from accounts.models import Friendship, Person


def befriend(person_id: int, friend_id: int) -> None:
    """Make two people friends; repeating it changes nothing.

    Raises Person.DoesNotExist, or ValueError if both are the same person.
    """
    pair = (person_id, friend_id)
    with transaction.atomic():
        _lock(pair)
        Friendship.objects.bulk_create(
            (Friendship(person_id=a, friend_id=b) for a, b in (pair, pair[::-1])),
            ignore_conflicts=True,
        )


def unfriend(person_id: int, friend_id: int) -> None:
    """End a friendship, if there is one. Raises like ``befriend``."""
    pair = (person_id, friend_id)
    with transaction.atomic():
        _lock(pair)
        either = Q(person_id=person_id, friend_id=friend_id)
        other = Q(person_id=friend_id, friend_id=person_id)
        Friendship.objects.filter(either | other).delete()


def renew_versions(people: QuerySet[Person]) -> None:
    """Invalidate the cached friends of these people."""
    people.update(friends_version=secrets.randbits(63))


def _lock(pair: tuple[int, int]) -> None:
    """Lock two people by renewing their versions, in the order of their ids (no deadlock)."""
    if pair[0] == pair[1]:
        raise ValueError("You cannot befriend yourself.")
    for person_id in sorted(pair):
        person = Person.objects.filter(id=person_id)
        renew_versions(person)
        if not person.exists():
            raise Person.DoesNotExist

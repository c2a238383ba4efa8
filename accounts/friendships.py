"""Friendships, and the versions by which they may be cached.

A version is drawn at random, not counted: one that was rolled back, or that a database brought back
from a copy had before, never comes again with other friendships.
"""

import secrets

from django.db import transaction
from django.db.models import Q, QuerySet

from accounts.models import Friendship, Person


def befriend(person_id: int, friend_id: int) -> None:
    """Make two people friends of each other; again changes nothing.

    Raises Person.DoesNotExist, or ValueError for twice the same person.
    """
    pair = (person_id, friend_id)
    with transaction.atomic():
        _lock(pair)
        Friendship.objects.bulk_create(
            (Friendship(person_id=a, friend_id=b) for a, b in (pair, pair[::-1])),
            ignore_conflicts=True,
        )


def unfriend(person_id: int, friend_id: int) -> None:
    """End a friendship; where there is none this changes nothing. Raises like ``befriend``.

    What was delivered stays in the timelines.
    """
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

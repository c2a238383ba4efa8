"""Who is shown whose posts, requests for it, and the versions by which that may be cached.

Friends follow each other. Services call ``feed.follows``, which changes the timelines too. Whatever
changes what is between two people locks both of them first, in the order of their ids (no
deadlock).

Versions are random, not counted: a version that was rolled back, or that a restored database had
before, is never used again for others.
"""

import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum, auto
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Q, QuerySet
from rest_framework.exceptions import ValidationError

from accounts.limits import Limited
from accounts.models import Block, Follow, FriendRequest, Person
from accounts.services import UnknownPerson

MOST_WAITING = 100
"""Requests of one person that wait for an answer."""
RETRY_AFTER_S = 60


class Edge(NamedTuple):
    """Posts of the one are in the feed of the other."""

    author_id: int
    reader_id: int


class RequestState(Enum):
    WAITING = auto()
    """The other has not agreed yet."""
    ACCEPTED = auto()
    """The other has agreed: it begins."""
    BEGUN = auto()
    """It had begun before."""


def ask(person_id: int, friend_id: int) -> RequestState:
    """Ask for a friendship; it begins once both have asked.

    Repeating it changes nothing. Raises Person.DoesNotExist (also for a friend who is deactivated,
    or if one has blocked the other), UnknownPerson, Limited, or ValidationError if both are
    the same person.
    """
    with _asking(person_id, friend_id):
        if _exists(Edge(friend_id, person_id)):
            return RequestState.BEGUN
        if FriendRequest.objects.filter(person_id=friend_id, friend_id=person_id).exists():
            _begin(both_ways(person_id, friend_id))
            return RequestState.ACCEPTED
        _note_request(person_id, friend_id)
        return RequestState.WAITING


def follow(reader_id: int, author_id: int) -> RequestState:
    """Begin to read somebody's posts; those who are private have to accept it.

    Repeating it changes nothing. Raises like ``ask``.
    """
    edge = Edge(author_id, reader_id)
    with _asking(reader_id, author_id):
        if _exists(edge):
            return RequestState.BEGUN
        if not Person.objects.filter(id=author_id, is_private=True).exists():
            _begin([edge])
            return RequestState.ACCEPTED
        _note_request(reader_id, author_id)
        return RequestState.WAITING


def accept(author_id: int, reader_id: int) -> bool:
    """Accept that somebody reads one's posts; return whether that begins.

    Repeating it changes nothing. Raises like ``ask``, also if they haven't asked.
    """
    edge = Edge(author_id, reader_id)
    with _asking(author_id, reader_id):
        if _exists(edge):
            return False
        FriendRequest.objects.get(person_id=reader_id, friend_id=author_id)
        _begin([edge])
        return True


def have_asked(edges: Sequence[Edge]) -> bool:
    """Return whether any of these edges has begun or was asked for."""
    requests = FriendRequest.objects.filter(_requests_for(edges))
    return requests.exists() or Follow.objects.filter(_any_of(edges)).exists()


def end(person_id: int, edges: Sequence[Edge]) -> list[Edge]:
    """End edges between a person and another, withdraw requests for them, or decline these.

    Returns what has ended. Raises UnknownPerson.
    """
    with transaction.atomic():
        author_id, reader_id = edges[0]
        lock(person_id, author_id if reader_id == person_id else reader_id)
        return end_locked(edges)


def end_locked(edges: Sequence[Edge]) -> list[Edge]:
    """End what there is of some edges between locked people, and requests for it; return it."""
    FriendRequest.objects.filter(_requests_for(edges)).delete()
    return _end(Follow.objects.filter(_any_of(edges)))


def both_ways(person_id: int, other_id: int) -> list[Edge]:
    return [Edge(person_id, other_id), Edge(other_id, person_id)]


def reader_ids(author_id: int) -> QuerySet[Any, int]:
    """Return the ids of an author's readers, also of those who are deactivated."""
    return Follow.objects.filter(author_id=author_id).values_list("reader_id", flat=True)


def author_ids(reader_id: int) -> QuerySet[Any, int]:
    """Return the ids of those whose posts a person reads, also of those who are deactivated."""
    return Follow.objects.filter(reader_id=reader_id).values_list("author_id", flat=True)


def end_some(person_id: int, most: int) -> list[Edge]:
    """End at most so many of a person's edges, in the caller's transaction; return what has ended.

    There may be more with the same people.
    """
    of_person = Follow.objects.filter(Q(author_id=person_id) | Q(reader_id=person_id))
    others = {
        one for pair in of_person.values_list("author_id", "reader_id")[:most] for one in pair
    }
    people = Person.objects.filter(id__in=others).order_by("id").select_for_update()
    list(people.values_list("id"))
    return _end(of_person.filter(author_id__in=others, reader_id__in=others))


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
    """Invalidate what is cached of those whom these people read, and who read them."""
    people.update(friends_version=secrets.randbits(63))


def _renew_versions_of(edges: Iterable[Edge]) -> None:
    renew_versions(Person.objects.filter(id__in={one for edge in edges for one in edge}))


def _end(follows: QuerySet[Follow]) -> list[Edge]:
    ended = [Edge(*edge) for edge in follows.values_list("author_id", "reader_id")]
    if ended:
        follows.delete()
        _renew_versions_of(ended)
    return ended


def _begin(edges: Sequence[Edge]) -> None:
    FriendRequest.objects.filter(_requests_for(edges)).delete()
    Follow.objects.bulk_create(Follow(**edge._asdict()) for edge in edges)
    _renew_versions_of(edges)


@contextmanager
def _asking(person_id: int, other_id: int) -> Iterator[None]:
    """Lock two people of whom one asks the other, in a transaction, if that may be."""
    if person_id == other_id:
        raise ValidationError({"detail": "This is yourself."})
    with transaction.atomic():
        if not lock(person_id, other_id).get(other_id) or _is_blocked(person_id, other_id):
            raise Person.DoesNotExist
        yield


def _exists(edge: Edge) -> bool:
    return Follow.objects.filter(**edge._asdict()).exists()


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


def _any_of(edges: Sequence[Edge]) -> Q:
    return reduce(or_, (Q(**edge._asdict()) for edge in edges))


def _requests_for(edges: Sequence[Edge]) -> Q:
    return reduce(or_, (Q(person_id=e.reader_id, friend_id=e.author_id) for e in edges))

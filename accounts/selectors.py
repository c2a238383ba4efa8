"""Queries about people."""

from django.db.models import QuerySet

from accounts.blocks import unblocked
from accounts.models import Block, FriendRequest, Friendship, Person

MOST_SHOWN = 100
"""Requests in a list."""


def known_to(viewer_id: int) -> QuerySet[Person]:
    """Return the people who are active, and not hidden from the viewer by a block."""
    return unblocked(Person.objects.filter(is_active=True), viewer_id, "id")


def friends_of(person_id: int) -> list[int]:
    """Return the ids of a person's active friends."""
    friends = Friendship.objects.filter(person_id=person_id, friend__is_active=True)
    return list(friends.order_by("friend_id").values_list("friend_id", flat=True))


def requests_to(person_id: int) -> list[int]:
    """Return who would like to be a friend of a person, the newest MOST_SHOWN, newest first."""
    requests = FriendRequest.objects.filter(friend_id=person_id, person__is_active=True)
    ids = requests.order_by("-created_at", "-person_id").values_list("person_id", flat=True)
    return list(ids[:MOST_SHOWN])


def requests_of(person_id: int) -> list[int]:
    """Return whose friend a person would like to be, the newest MOST_SHOWN, newest first."""
    requests = FriendRequest.objects.filter(person_id=person_id, friend__is_active=True)
    ids = requests.order_by("-created_at", "-friend_id").values_list("friend_id", flat=True)
    return list(ids[:MOST_SHOWN])


def blocked_by(person_id: int) -> list[int]:
    """Return the ids of the people whom a person has blocked."""
    blocks = Block.objects.filter(person_id=person_id).order_by("other_id")
    return list(blocks.values_list("other_id", flat=True))

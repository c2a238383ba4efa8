"""Queries about people."""

from collections.abc import Iterable

from django.db.models import Exists, OuterRef, QuerySet

from accounts.blocks import unblocked
from accounts.ids import PUBLIC_GROUP_ID
from accounts.models import (
    DELETED,
    Block,
    FriendRequest,
    Friendship,
    Membership,
    Person,
    Profile,
)

MOST_SHOWN = 100
"""Requests in a list."""


def half_made() -> QuerySet[Person]:
    """Return the people without a profile or without the membership of the public group."""
    person = OuterRef("id")
    return Person.objects.exclude(username__startswith=DELETED).exclude(
        Exists(Profile.objects.filter(person_id=person)),
        Exists(Membership.objects.filter(person_id=person, group_id=PUBLIC_GROUP_ID)),
    )


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


def lost(accepted: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the accepted sign-ups (id, username) whose person does not exist."""
    people = set(Person.objects.values_list("id", "username"))
    return [person for person in accepted if person not in people]

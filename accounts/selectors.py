"""Queries about people."""

from django.db.models import QuerySet

from accounts.blocks import unblocked
from accounts.models import Block, Follow, FriendRequest, Person

MOST_SHOWN = 100
"""Requests in a list."""
MOST_LISTED = 1000
"""Followers in a page of them."""


def known_to(viewer_id: int) -> QuerySet[Person]:
    """Return the people who are active, and not hidden from the viewer by a block."""
    return unblocked(Person.objects.filter(is_active=True), viewer_id, "id")


def friends_of(person_id: int) -> list[int]:
    """Return the ids of a person's active friends."""
    friends = Follow.objects.filter(author_id=person_id, reader__is_active=True)
    return list(friends.order_by("reader_id").values_list("reader_id", flat=True))


def followers_of(person_id: int, *, after: int = 0) -> list[int]:
    """Return the ids of a person's active readers, the first MOST_LISTED above an id."""
    found = Follow.objects.filter(author_id=person_id, reader_id__gt=after, reader__is_active=True)
    return list(found.order_by("reader_id").values_list("reader_id", flat=True)[:MOST_LISTED])


def followed_by(person_id: int, *, after: int = 0) -> list[int]:
    """Return the ids of active people whose posts one reads, the first MOST_LISTED above an id."""
    found = Follow.objects.filter(reader_id=person_id, author_id__gt=after, author__is_active=True)
    return list(found.order_by("author_id").values_list("author_id", flat=True)[:MOST_LISTED])


def requests_to(person_id: int) -> list[int]:
    """Return who would like to be a friend or follower, the newest MOST_SHOWN, newest first."""
    requests = FriendRequest.objects.filter(friend_id=person_id, person__is_active=True)
    ids = requests.order_by("-created_at", "-person_id").values_list("person_id", flat=True)
    return list(ids[:MOST_SHOWN])


def requests_of(person_id: int) -> list[int]:
    """Return whom a person has asked for that, the newest MOST_SHOWN, newest first."""
    requests = FriendRequest.objects.filter(person_id=person_id, friend__is_active=True)
    ids = requests.order_by("-created_at", "-friend_id").values_list("friend_id", flat=True)
    return list(ids[:MOST_SHOWN])


def blocked_by(person_id: int) -> list[int]:
    """Return the ids of the people whom a person has blocked."""
    blocks = Block.objects.filter(person_id=person_id).order_by("other_id")
    return list(blocks.values_list("other_id", flat=True))

"""Account creation, deactivation and deletion."""

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction
from django.db.models import Q
from rest_framework.exceptions import APIException, AuthenticationFailed

from accounts import limits
from accounts.hashing import hash_password
from accounts.ids import PUBLIC_GROUP_ID
from accounts.models import (
    Block,
    FriendRequest,
    Membership,
    Person,
    Profile,
    Session,
    deleted_username,
)
from accounts.usernames import username_key


class UsernameTaken(APIException):
    """The username is taken; the API answers 409."""

    status_code = 409
    default_detail = "This username is taken."
    default_code = "username_taken"


class UnknownPerson(AuthenticationFailed):
    """The person who acts doesn't exist (any more), or is deactivated; the API answers 401."""

    default_detail = "The token's person doesn't exist."


def sign_up(*, username: str, password: str, name: str = "", address: str = "") -> Person:
    """Create a person, their profile and their membership of the public group, all or nothing.

    ``address``: of the client, if it is known. Raises UsernameTaken, in most cases without the
    cost of a hash, Limited or NoSlot.
    """
    encoded = admit(username, password, address)  # slow, so outside of the transaction
    with transaction.atomic():
        return create_person(username, encoded, name)


def admit(username: str, password: str, address: str) -> str:
    """Return the hash of a newcomer's password; raises as ``sign_up`` does."""
    if address:
        limits.take(f"sign-up from {address}", **settings.SIGNUPS_PER_ADDRESS)
    if is_taken(username):
        raise UsernameTaken
    return hash_password(password)


def create_person(username: str, encoded: str, name: str) -> Person:
    """Write what belongs to a person. Raises UsernameTaken."""
    try:
        person = Person.objects.create(username=username, password=encoded)
    except IntegrityError:
        raise UsernameTaken from None  # by a concurrent sign-up
    Profile.objects.create(person=person, name=name)
    Membership.objects.create(person=person, group_id=PUBLIC_GROUP_ID)
    return person


def set_active(person_id: int, is_active: bool) -> None:
    """Deactivate or reactivate an account; all its tokens become invalid.

    Raises Person.DoesNotExist. Services call ``feed.people``, which changes the posts too.
    """
    with transaction.atomic():
        person = Person.objects.select_for_update().get(id=person_id)
        if person.is_deleted:
            raise Person.DoesNotExist
        Person.objects.filter(id=person_id).update(is_active=is_active)
        person.end_sessions(stays_open=is_active)


def delete(person_id: int) -> None:
    """Delete an account but for the row of the person, which keeps no personal data.

    Friendships stay: ``feed.people`` ends them, with the timelines. Raises Person.DoesNotExist;
    repeating it changes nothing.
    """
    with transaction.atomic():
        person = Person.objects.select_for_update().get(id=person_id)
        if not person.is_deleted:
            person.end_sessions(stays_open=False)
        Person.objects.filter(id=person_id).update(
            username=deleted_username(person_id),
            username_key=None,
            password=make_password(None),
            is_active=False,
        )
        for rows in (Profile.objects, Membership.objects, Session.objects):
            rows.filter(person_id=person_id).delete()
        me = Q(person_id=person_id)
        FriendRequest.objects.filter(me | Q(friend_id=person_id)).delete()
        Block.objects.filter(me | Q(other_id=person_id)).delete()


def set_private(person_id: int, *, is_private: bool) -> None:
    """Let a person accept their followers, or everybody follow them."""
    Person.objects.filter(id=person_id).update(is_private=is_private)


def is_taken(username: str) -> bool:
    """Return whether somebody has this username, or one that looks like it."""
    alike = Q(username=username) | Q(username_key=username_key(username))
    return Person.objects.filter(alike).exists()

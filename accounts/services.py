"""Account creation."""

from contextlib import nullcontext

from django.conf import settings
from django.db import IntegrityError, transaction

from accounts.hashing import hash_password
from accounts.ids import PUBLIC_GROUP_ID
from accounts.models import Membership, Person, Profile


class UsernameTaken(Exception):
    """The username is taken."""


def sign_up(*, username: str, password: str, name: str = "") -> Person:
    """Create a person, their profile and their membership of the public group, all or nothing.

    Raises UsernameTaken, in most cases without the cost of a hash, or NoSlot.
    """
    if Person.objects.filter(username=username).exists():
        raise UsernameTaken
    encoded = hash_password(password)  # slow, so outside of the transaction
    with transaction.atomic() if settings.SIGNUP_ATOMIC else nullcontext():
        person = _create_person(username, encoded)
        Profile.objects.create(person=person, name=name)
        Membership.objects.create(person=person, group_id=PUBLIC_GROUP_ID)
    return person


def _create_person(username: str, encoded: str) -> Person:
    try:
        return Person.objects.create(username=username, password=encoded)
    except IntegrityError:
        raise UsernameTaken from None  # by a concurrent sign-up

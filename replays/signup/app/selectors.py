from collections.abc import Iterable

from django.db.models import Exists, OuterRef, QuerySet

from accounts.ids import PUBLIC_GROUP_ID
from accounts.models import DELETED, Membership, Person, Profile


def half_made() -> QuerySet[Person]:
    """Return the people without a profile or without the membership of the public group."""
    person = OuterRef("id")
    return Person.objects.exclude(username__startswith=DELETED).exclude(
        Exists(Profile.objects.filter(person_id=person)),
        Exists(Membership.objects.filter(person_id=person, group_id=PUBLIC_GROUP_ID)),
    )


def lost(accepted: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the accepted sign-ups (id, username) whose person does not exist."""
    people = set(Person.objects.values_list("id", "username"))
    return [person for person in accepted if person not in people]

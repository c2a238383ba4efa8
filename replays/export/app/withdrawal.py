"""Exports are withdrawn when their people may no longer read what may be in them.

The service keeps a row of each change of friends, or of a person who is deactivated or deleted,
until all shows it: removing a FriendshipChange ends the change, so whatever was made before is
withdrawn then; an AuthorChange is finished soon after it is written, and once more, seconds later,
when it is removed.
"""

from typing import Any

from django.db.models.signals import post_save, pre_delete
from django.dispatch import receiver

from accounts.friendships import friend_ids
from accounts.models import Friendship, Person
from feed.models import AuthorChange, FriendshipChange
from replays.export.app.services import withdraw_exports


@receiver(pre_delete, sender=FriendshipChange)
def withdraw_after_friendship(instance: FriendshipChange, **kwargs: Any) -> None:
    pair = instance.person_id, instance.friend_id
    if not Friendship.objects.filter(person_id=pair[0], friend_id=pair[1]).exists():
        withdraw_exports(pair)


@receiver([post_save, pre_delete], sender=AuthorChange)
def withdraw_what_is_hidden(instance: AuthorChange, **kwargs: Any) -> None:
    if not Person.objects.get(id=instance.person_id).is_active:
        withdraw_exports(friend_ids(instance.person_id))

"""Exports are withdrawn when their people may no longer read what may be in them.

The service keeps a row of each change of friends, or of a person who is deactivated or deleted,
until all shows it: removing a FollowChange ends the change, so whatever was made before is
withdrawn then; an AuthorChange is finished soon after it is written, and once more, seconds later,
when it is removed.
"""

from typing import Any

from django.db.models.signals import post_save, pre_delete
from django.dispatch import receiver

from accounts.follows import reader_ids
from accounts.models import Follow, Person
from feed.models import AuthorChange, FollowChange
from replays.export.app.services import withdraw_exports


@receiver(pre_delete, sender=FollowChange)
def withdraw_after_unfollow(instance: FollowChange, **kwargs: Any) -> None:
    edge = {"author_id": instance.author_id, "reader_id": instance.reader_id}
    if not Follow.objects.filter(**edge).exists():
        withdraw_exports([instance.reader_id])


@receiver([post_save, pre_delete], sender=AuthorChange)
def withdraw_what_is_hidden(instance: AuthorChange, **kwargs: Any) -> None:
    if not Person.objects.get(id=instance.person_id).is_active:
        withdraw_exports(reader_ids(instance.person_id))

"""Deactivating, reactivating and deleting people, and what that does to their posts.

The first transaction changes the account, and notes that the posts don't show it yet. The rest may
be repeated: what a process that died left is finished by drainers. Other processes trust tokens for
up to another second, so what somebody wrote meanwhile is hidden LATE_S after the change.
"""

import time
from collections.abc import Callable, Collection, Iterator
from enum import Enum, auto
from functools import partial
from math import inf

from django.db import transaction
from django.db.models.functions import Coalesce, Length, Now

from accounts import erasure
from accounts import services as accounts
from accounts.models import Person
from feed import epochs, follows
from feed.hydration import forgetting
from feed.models import AuthorChange, CopiedEntry, IdempotencyKey, Post, PostQuerySet, Reader

LATE_S = 5.0
"""Age at which a change is finished once more, or for whoever died: by then no process trusts a
token from before it."""
BATCH = 500
"""Posts that are changed in one transaction."""


class State(Enum):
    """What is shown of a person's posts."""

    SHOWN = auto()
    HIDDEN = auto()
    """They keep their texts."""
    ERASED = auto()


def deactivate(person_id: int) -> None:
    """Hide a person and their posts until they are reactivated. Raises Person.DoesNotExist."""
    _change(partial(accounts.set_active, is_active=False), person_id)


def reactivate(person_id: int) -> None:
    """Show a person's posts again, but for those that they deleted. Raises Person.DoesNotExist."""
    _change(partial(accounts.set_active, is_active=True), person_id)


def delete(person_id: int) -> None:
    """Remove a person with all that they wrote and did. Raises Person.DoesNotExist.

    Only ids stay: the row of the person, and their posts without texts.
    """
    _change(accounts.delete, person_id)


def finish_changes(*, until: float = inf) -> None:
    """Finish the changes that are older than LATE_S, until this monotonic time."""

    def finish(change: AuthorChange) -> None:
        if _finish(change.person_id, until=until):
            change.delete()

    follows.finish_each(AuthorChange, LATE_S, until, finish)


def _change(write: Callable[[int], None], person_id: int) -> None:
    with transaction.atomic():
        write(person_id)
        AuthorChange.objects.create(person_id=person_id)
    _finish(person_id)


def _finish(person_id: int, *, until: float = inf) -> bool:
    """Bring a person's posts into their state; return whether the time was enough."""
    with transaction.atomic():  # waits for posts of this person that are being written
        state = _locked_state(person_id)
    for post_ids in _differing(state, person_id):
        if time.monotonic() > until:
            return False
        if not _bring(post_ids, state, person_id):
            return True  # the state has changed, and another change finishes that
    if state is State.ERASED:
        _erase(person_id)
    return True


def _locked_state(person_id: int) -> State:
    """Lock a person; return what is to be shown of their posts."""
    person = Person.objects.select_for_update().get(id=person_id)
    if person.is_deleted:
        return State.ERASED
    return State.SHOWN if person.is_active else State.HIDDEN


def _differing(state: State, person_id: int) -> Iterator[Collection[int]]:
    """Yield the ids of a person's posts that are in another state, some at a time.

    Some stores have copies of texts, also of posts that their author had deleted.
    """
    # Without a filter on deleted_at: SQLite would scan the index of all live posts.
    posts = Post.objects.filter(author_id=person_id).annotate(size=Length("body")).order_by("id")
    last = 0
    while found := list(posts.filter(id__gt=last).values_list("id", "deleted_at", "size")[:BATCH]):
        last = found[-1][0]
        copied = _copied([post[0] for post in found]) if state is State.ERASED else set()
        differing = [
            post_id
            for post_id, deleted_at, size in found
            if (state is State.SHOWN and deleted_at and size)
            or (state is not State.SHOWN and not deleted_at)
            or (state is State.ERASED and (size or post_id in copied))
        ]
        if differing:
            yield differing


def _copied(post_ids: Collection[int]) -> set[int]:
    """Return which of these posts have copies of their texts."""
    return {
        post_id
        for entries in CopiedEntry.__subclasses__()
        for post_id in entries.objects.filter(post__in=post_ids)
        .exclude(body="")
        .values_list("post_id", flat=True)
        .distinct()
    }


def _bring(post_ids: Collection[int], state: State, person_id: int) -> bool:
    """Bring posts into this state, if it is still their author's; return whether it is.

    Whoever delivers a post locks it first, so it is locked before its author here.
    """
    posts = Post.objects.filter(id__in=post_ids)
    with forgetting(*post_ids), transaction.atomic():
        list(posts.order_by("id").select_for_update().values_list("id"))
        if _locked_state(person_id) is not state:
            return False
        _write(posts, state)
    return True


def _write(posts: PostQuerySet, state: State) -> None:
    if state is State.SHOWN:
        posts.exclude(body="").update(deleted_at=None)
    elif state is State.HIDDEN:
        posts.update(deleted_at=Coalesce("deleted_at", Now()))
    else:
        posts.update(deleted_at=Coalesce("deleted_at", Now()), body="")
        for entries in CopiedEntry.__subclasses__():
            entries.objects.filter(post__in=posts).update(body="")


def _erase(person_id: int) -> None:
    accounts.delete(person_id)  # what was written while tokens were still trusted
    follows.end_all(person_id)
    IdempotencyKey.objects.filter(author_id=person_id).delete()
    Reader.objects.filter(person_id=person_id).delete()
    erasure.erase(person_id)
    epochs.get_store().discard(person_id)

"""Who gets a post: the look-up that the stores which write outside the database share."""

from collections.abc import Iterable, Sequence

import numpy as np
from django.db.models import Aggregate, Sum, TextField
from numpy.typing import NDArray

from accounts.models import Friendship
from feed.models import Post

Ids = NDArray[np.int64]


class _Joined(Aggregate):
    function = "GROUP_CONCAT"
    output_field = TextField()


def recipients_of(posts: Sequence[Post]) -> list[Ids]:
    """Return for each post the owners of the timelines that it is due in, its author first.

    One query for the whole batch. The database joins the friend ids of an author into one text,
    since half a million integers made into Python objects cost more than their deliveries.
    """
    friends = _friends({post.author_id for post in posts})
    owners = {author_id: np.append(np.int64(author_id), ids) for author_id, ids in friends.items()}
    return [owners.get(post.author_id, np.array([post.author_id])) for post in posts]


def _friends(author_ids: Iterable[int]) -> dict[int, Ids]:
    joined = list(
        Friendship.objects.filter(person_id__in=author_ids)
        .values_list("person_id")
        .annotate(ids=_Joined("friend_id"), total=Sum("friend_id"))
    )
    friends = {author_id: np.fromstring(ids, np.int64, sep=",") for author_id, ids, _ in joined}
    # MySQL cuts a text at group_concat_max_len without a word.
    cut = [author_id for author_id, _, total in joined if friends[author_id].sum() != total]
    return friends | _friends_by_row(cut)


def _friends_by_row(author_ids: Sequence[int]) -> dict[int, Ids]:
    friends: dict[int, list[int]] = {author_id: [] for author_id in author_ids}
    if author_ids:
        pairs = Friendship.objects.filter(person_id__in=author_ids)
        for author_id, friend_id in pairs.values_list("person_id", "friend_id"):
            friends[author_id].append(friend_id)
    return {author_id: np.array(ids, np.int64) for author_id, ids in friends.items()}

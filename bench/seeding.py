"""Writing the friendships of the bench."""

from collections.abc import Iterator, Sequence

import numpy as np
from django.db import connection, transaction

from accounts.friendships import renew_versions
from accounts.models import Person
from accounts.seeding import insert_friendships
from bench.graphs import Filler, Graph
from feed.recipients import Ids


def seed_friends(graphs: Sequence[Graph], fillers: Sequence[Filler]) -> Iterator[float]:
    """Write who the friends of all posters are; yield the share done (0 … 1)."""
    for filler in fillers:
        seed_graph(np.array([filler.author_id]), filler.friend_ids())
    for done, graph in enumerate(graphs, start=1):
        seed_graph(graph.posters, graph.friend_ids())
        yield done / len(graphs)


def seed_graph(authors: Ids, friend_ids: Ids) -> None:
    """Write the friends of some authors: shapes (authors,) and (authors, friends).

    One direction only: those who don't post are never asked for their friends.
    """
    persons = np.repeat(authors, friend_ids.shape[1])
    # Nobody else is there, and the look-ups of each person would take longer than the rows.
    with connection.constraint_checks_disabled(), transaction.atomic():
        for _ in insert_friendships(np.column_stack((persons, friend_ids.ravel()))):
            pass
        renew_versions(Person.objects.filter(id__in=authors.tolist()))

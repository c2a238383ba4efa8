"""The posters of the bench and their friends, the same in every process, and their rows."""

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from django.db import connection, transaction

from accounts.follows import renew_versions
from accounts.models import Person
from accounts.seeding import insert_follows
from feed.recipients import Ids
from feed.timeline_stores.base import MOST_SHARDS

POSTERS = 500
FRIENDSHIPS = 1_000_000
"""Most friendships of a graph; with many friends per person, fewer people post."""
FILLED = (50, 1_000)
"""Timelines that the two fillers fill."""
SEED = 7


class Graph(NamedTuple):
    """Some of the people have friends, and post. Half a billion friendships would serve no more."""

    people: int
    """Friends are persons 1 … ``people``."""
    friends: int
    """Friends per poster."""
    posters: Ids

    def friend_ids(self) -> Ids:
        """Return the friends of each poster, ascending: shape (posters, friends)."""
        random = np.random.default_rng((SEED, self.people, self.friends))
        return np.array([self._draw(poster, random) for poster in self.posters], np.int64)

    def _draw(self, poster: int, random: np.random.Generator) -> Ids:
        drawn = random.choice(self.people - 1, self.friends, replace=False, shuffle=False) + 1
        drawn += drawn >= poster  # nobody is their own friend
        drawn.sort()
        return drawn


class Filler(NamedTuple):
    """Someone beyond all graphs, whose posts fill the timelines of their friends."""

    author_id: int
    friend_ids: Ids

    @property
    def owner_ids(self) -> Ids:
        return np.append(self.friend_ids, self.author_id)


def graphs(people: Sequence[int], friends: Sequence[int]) -> list[Graph]:
    """Return the graphs that are possible, each with its own posters.

    Raises ValueError if there are more graphs than can have posters.
    """
    random = np.random.default_rng(SEED)
    pairs = [(p, f) for p in sorted(set(people)) for f in sorted(set(friends)) if f < p]
    possible: list[Graph] = []
    for at, pair in enumerate(pairs):
        taken = np.concatenate([[0], *(graph.posters for graph in possible)])
        free = np.setdiff1d(np.arange(pair[0] + 1), taken)
        per_graph = len(free) // sum(later[0] == pair[0] for later in pairs[at:])
        if not per_graph:
            raise ValueError(f"{pair[0]} people are too few for so many graphs")
        count = max(1, min(POSTERS, per_graph, FRIENDSHIPS // pair[1]))
        posters = random.choice(free, count, replace=False)
        possible.append(Graph(*pair, np.sort(posters)))
    return possible


def fillers(people: int) -> list[Filler]:
    """Return the two persons after ``people`` who fill timelines, of few people and of many.

    Their friends fill shards as if everybody were a friend: they have the same lowest bits, as far
    as there are such people, whatever the number of shards is, since they are the first in the
    order of the reversed bits.
    """
    ids = np.arange(1, people + 1)
    bits = MOST_SHARDS.bit_length() - 1
    reversed_bits = sum((ids >> bit & 1) << bits - 1 - bit for bit in range(bits))
    ordered = ids[np.argsort(reversed_bits, kind="stable")]
    return [
        Filler(people + number, np.sort(ordered[:friends]))
        for number, friends in enumerate(FILLED, start=1)
    ]


def seed_friends(graphs: Sequence[Graph], fillers: Sequence[Filler]) -> Iterator[float]:
    """Write who the friends of all posters are; yield the share done (0 … 1)."""
    for filler in fillers:
        _seed(np.array([filler.author_id]), filler.friend_ids.reshape(1, -1))
    for done, graph in enumerate(graphs, start=1):
        _seed(graph.posters, graph.friend_ids())
        yield done / len(graphs)


def _seed(authors: Ids, friend_ids: Ids) -> None:
    """Write the friends of some authors: shapes (authors,) and (authors, friends).

    One direction only: those who don't post are never asked for their friends.
    """
    persons = np.repeat(authors, friend_ids.shape[1])
    # Nobody else is there, and the look-ups of each person would take longer than the rows.
    with connection.constraint_checks_disabled(), transaction.atomic():
        for _ in insert_follows(np.column_stack((persons, friend_ids.ravel()))):
            pass
        renew_versions(Person.objects.filter(id__in=authors.tolist()))


def numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def add_graphs(parser: ArgumentParser) -> None:
    parser.add_argument("--people", type=numbers, default=[1000])
    parser.add_argument("--friends", type=numbers, default=[500], help="of each who posts")

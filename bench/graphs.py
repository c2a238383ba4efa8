"""The posters of the bench and their friends, the same in every process, and their rows."""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from django.db import connection, transaction

from accounts.friendships import renew_versions
from accounts.models import Person
from accounts.seeding import insert_friendships
from feed.recipients import Ids
from feed.timeline_stores.base import MOST_SHARDS

POSTERS = 500
FRIENDSHIPS = 1_000_000
"""Most friendships of a graph; with many friends per person, fewer people post."""
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
    """Someone beyond all graphs, whose posts fill the timelines of some people."""

    author_id: int
    friends: int
    people: int

    def friend_ids(self) -> Ids:
        """Return friends who fill shards as if everybody were a friend: shape (1, friends).

        They have the same lowest bits, as far as there are such people, whatever the number of
        shards is: they are the first in the order of the reversed bits.
        """
        ids = np.arange(1, self.people + 1)
        bits = MOST_SHARDS.bit_length() - 1
        reversed_bits = sum((ids >> bit & 1) << bits - 1 - bit for bit in range(bits))
        return np.sort(ids[np.argsort(reversed_bits, kind="stable")][: self.friends]).reshape(1, -1)


class Fillers(NamedTuple):
    few: Filler
    usual: Filler
    many: Filler


def graphs(people: Sequence[int], friends: Sequence[int]) -> list[Graph]:
    """Return a graph for each pair that is possible; nobody posts in two of them.

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


def fillers(people: int) -> Fillers:
    """Return the persons after ``people`` who fill timelines."""
    few, usual, many = (min(friends, people) for friends in (50, 500, 1000))
    return Fillers(
        Filler(people + 1, few, people),
        Filler(people + 2, usual, people),
        Filler(people + 3, many, people),
    )


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


def numbers(text: str) -> list[int]:
    """Read numbers above 0, separated by commas."""
    values = [int(number) for number in text.split(",")]
    if min(values) < 1:
        raise ArgumentTypeError(f"{min(values)} is less than 1")
    return values


def add_graphs(parser: ArgumentParser) -> None:
    parser.add_argument("--people", type=numbers, default=[1000])
    parser.add_argument("--friends", type=numbers, default=[500], help="of each who posts")


def add_grid(parser: ArgumentParser) -> None:
    add_graphs(parser)
    parser.add_argument("--batch", type=numbers, default=[25, 500], help="posts per batch")

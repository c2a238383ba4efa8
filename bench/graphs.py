"""The posters of the bench and their friends, the same in every process."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

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
    found: list[Graph] = []
    for at, pair in enumerate(pairs):
        taken = np.concatenate([[0], *(graph.posters for graph in found)])
        free = np.setdiff1d(np.arange(pair[0] + 1), taken)
        each = len(free) // sum(later[0] == pair[0] for later in pairs[at:])
        if not each:
            raise ValueError(f"{pair[0]} people are too few for so many graphs")
        count = max(1, min(POSTERS, each, FRIENDSHIPS // pair[1]))
        posters = random.choice(free, count, replace=False)
        found.append(Graph(*pair, np.sort(posters)))
    return found


def fillers(people: int) -> Fillers:
    """Return the persons after ``people`` who fill timelines."""
    few, usual, many = (min(friends, people) for friends in (50, 500, 1000))
    return Fillers(
        Filler(people + 1, few, people),
        Filler(people + 2, usual, people),
        Filler(people + 3, many, people),
    )

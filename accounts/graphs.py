"""Friendship graphs of persons 1 … n, for the load.

Each function returns an array of shape (edges, 2): every friendship once, as (smaller id,
larger id). In every graph with enough friends, neighbours on the circle 1, 2, …, n, 1 are
friends (in ``star``: only those of person 1), so that a load generator can name a friend of an
author without a request.
"""

from argparse import ArgumentParser
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Edges = NDArray[np.int64]
ZIPF_EXPONENT = 0.8


def ring(people: int, friends: int, seed: int) -> Edges:
    """Everyone has exactly ``friends`` friends: the nearest ones on a circle."""
    if friends % 2 and people % 2:
        raise ValueError(f"{people} people can't have {friends} friends each: both are odd")
    ids = np.arange(people)
    reach = [np.column_stack((ids, (ids + step) % people)) for step in range(1, friends // 2 + 1)]
    if friends % 2:
        half = people // 2
        reach.append(np.column_stack((ids[:half], ids[:half] + half)))
    return _undirected(np.concatenate(reach)) if reach else np.empty((0, 2), np.int64)


def star(people: int, friends: int, seed: int) -> Edges:
    """Person 1 has ``friends`` friends, who have no other friends (as published)."""
    others = np.arange(1, friends + 1)
    return _undirected(np.column_stack((np.zeros_like(others), others)))


def zipf(people: int, friends: int, seed: int) -> Edges:
    """About ``friends`` friends on average, but a few people have very many.

    Each person picks friends at random, as many as Zipf's law allots to their rank.
    """
    random = np.random.default_rng(seed)
    backbone = ring(people, 2 if friends >= 2 else 0, seed) - 1
    picks = random.permutation(_zipf_picks(people, people * friends / 2 - len(backbone)))
    picked = [random.choice(people - 1, count, replace=False) for count in picks]
    chooser = np.repeat(np.arange(people), picks)
    chosen = np.concatenate(picked)
    chosen += chosen >= chooser  # nobody picks themselves
    return _undirected(np.concatenate((backbone, np.column_stack((chooser, chosen)))))


GRAPHS: dict[str, Callable[[int, int, int], Edges]] = {"ring": ring, "star": star, "zipf": zipf}


OPTIONS = ("people", "friends", "graph", "largest", "seed")
"""The arguments of ``friendships``."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add OPTIONS to a command."""
    parser.add_argument("--people", type=int, default=1000)
    parser.add_argument("--friends", type=int, default=500, help="friends each (zipf: mean)")
    parser.add_argument("--graph", choices=GRAPHS, default="ring")
    parser.add_argument(
        "--largest", type=int, help="friends of person 1 at least, whatever the graph gives them"
    )
    parser.add_argument("--seed", type=int, default=7, help="random seed of the graph")


def friendships(
    *, people: int, friends: int, graph: str, seed: int, largest: int | None = None
) -> Edges:
    """Return the friendships of a graph in both directions, in the table's order.

    Raises ValueError if it is impossible.
    """
    if not 1 <= people or not 0 <= friends < people or not (largest or 0) < people:
        raise ValueError("friends must be at least 0 and fewer than people")
    edges = GRAPHS[graph](people, friends, seed)
    if largest:
        edges = np.concatenate((edges, _of_person_1(edges, people, largest, seed)))
    rows = np.concatenate((edges, edges[:, ::-1]))
    return rows[np.lexsort((rows[:, 1], rows[:, 0]))]


def _of_person_1(edges: Edges, people: int, count: int, seed: int) -> Edges:
    """Return friendships that person 1 lacks to have ``count``, with random people."""
    others = np.setdiff1d(np.arange(2, people + 1), edges[edges[:, 0] == 1, 1])
    missing = max(0, count - (people - 1 - len(others)))
    chosen = np.random.default_rng(seed).choice(others, missing, replace=False)
    return np.column_stack((np.ones_like(chosen), chosen))


def _zipf_picks(people: int, edges: float) -> NDArray[np.int64]:
    """Return how many friends the person of each rank picks, to make about ``edges`` in all."""
    share = np.arange(1, people + 1) ** -ZIPF_EXPONENT
    low, high = 0.0, float(people) ** 2
    for _ in range(64):
        scale = (low + high) / 2
        chance = np.minimum(scale * share, people - 1) / people
        # Pairs that pick each other make one friendship, not two.
        expected = people * chance.sum() - (chance.sum() ** 2 - (chance**2).sum()) / 2
        low, high = (scale, high) if expected < edges else (low, scale)
    picks: Edges = np.rint(np.minimum(high * share, people - 1)).astype(np.int64)
    return picks


def _undirected(pairs: Edges) -> Edges:
    """Turn 0-based pairs into distinct (smaller id, larger id) rows with ids from 1."""
    rows = np.sort(pairs, axis=1)
    base = int(rows.max(initial=0)) + 1
    packed = np.unique(rows[:, 0] * base + rows[:, 1])
    return np.column_stack(np.divmod(packed, base)) + 1

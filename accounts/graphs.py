"""Friendship graphs of persons 1 … n, for the load.

Each function returns an array of shape (edges, 2): every friendship once, as (smaller id,
larger id). In every graph with enough friends, neighbours on the circle 1, 2, …, n, 1 are
friends (in ``star``: only those of person 1), so that a load generator can name a friend of an
author without a request.
"""

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

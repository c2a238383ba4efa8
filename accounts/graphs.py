"""Graphs of persons 1 … n, for the load: who reads whom.

Each function returns an array of shape (edges, 2). Of friends it has every friendship once, as
(smaller id, larger id); of follows every edge, as (author id, reader id). In every graph with
enough edges the next person on the circle 1, 2, …, n, 1 reads a person (in ``star``: only person
1), so that a load generator can name a reader of an author without a request.
"""

from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Edges = NDArray[np.int64]
Weights = NDArray[np.float64]
ZIPF_EXPONENT = 0.8
FOLLOWING_SIGMA = 1.0
"""Of the lognormal distribution of how many a person follows."""
OF_EDGES, OF_PEOPLE = "author_id,reader_id", "followers,following"
"""Headers of files."""
MOST_ROUNDS = 50
"""Draws of what is missing to a number of edges: few people can have only so many."""


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
    others = np.arange(2, friends + 2)
    return np.column_stack((np.ones_like(others), others))


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


def ring_of_follows(people: int, followers: int, seed: int) -> Edges:
    """Everyone has exactly ``followers`` followers: the next ones on a circle."""
    ids = np.repeat(np.arange(people), followers)
    steps = np.tile(np.arange(1, followers + 1), people)
    return np.column_stack((ids, (ids + steps) % people)) + 1


def zipf_of_follows(people: int, followers: int, seed: int) -> Edges:
    """About ``followers`` followers on average: some people have very many, and some follow many.

    Popularity falls with the rank by Zipf's law; how many a person follows is lognormal.
    """
    random = np.random.default_rng(seed)
    popular = random.permutation(np.arange(1, people + 1) ** -ZIPF_EXPONENT)
    curious = random.lognormal(sigma=FOLLOWING_SIGMA, size=people)
    backbone = ring_of_follows(people, min(1, followers), seed)
    return _drawn(popular, curious, people * followers, random, backbone)


Graph = Callable[[int, int, int], Edges]
GRAPHS: Mapping[str, Mapping[str, Graph]] = {
    "friends": {"ring": ring, "star": star, "zipf": zipf},
    "follows": {"ring": ring_of_follows, "star": star, "zipf": zipf_of_follows},
}


OPTIONS = ("people", "friends", "graph", "largest", "seed")
"""The arguments of ``edges``."""


def add_arguments(parser: ArgumentParser) -> None:
    """Add OPTIONS to a command."""
    parser.add_argument("--people", type=int, default=1000)
    parser.add_argument(
        "--friends", type=int, default=500, help="friends or followers each (zipf: mean)"
    )
    parser.add_argument(
        "--graph",
        default="ring",
        help="ring, star, zipf, or a CSV file with a header: of edges (author_id,reader_id) or of "
        "people (followers,following)",
    )
    parser.add_argument(
        "--largest", type=int, help="readers of person 1 at least, whatever the graph gives them"
    )
    parser.add_argument("--seed", type=int, default=7, help="random seed of the graph")


def edges(
    kind: str, *, people: int, friends: int, graph: str, seed: int, largest: int | None = None
) -> Edges:
    """Return (author id, reader id) of a graph of "friends" or "follows", in the table's order.

    Friends read each other. Raises ValueError if the graph is impossible.
    """
    if not 1 <= people or not 0 <= friends < people or not (largest or 0) < people:
        raise ValueError("friends must be at least 0 and fewer than people")
    if graph in GRAPHS[kind]:
        rows = GRAPHS[kind][graph](people, friends, seed)
    else:
        rows = from_file(Path(graph), seed)
        if rows.max(initial=0) > people:
            raise ValueError(f"{graph} has {rows.max()} people, not {people}")
    if largest:
        rows = np.concatenate((rows, _of_person_1(rows, people, largest, seed)))
    if kind == "friends":
        rows = np.concatenate((rows, rows[:, ::-1]))
    return _distinct(rows)


def from_file(path: Path, seed: int) -> Edges:
    """Return the edges of a file, or edges between people of whom it has the numbers of followers.

    Ids become 1 … n, in their order. Raises ValueError for any other file.
    """
    try:
        with path.open() as file:
            header = file.readline().strip()
            if header not in (OF_EDGES, OF_PEOPLE):
                raise ValueError(f"it begins neither with {OF_EDGES} nor {OF_PEOPLE}")
            rows = np.loadtxt(file, np.int64, delimiter=",", ndmin=2)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} is no graph: {error}") from None
    if header == OF_EDGES:
        numbers: Edges = np.unique(rows, return_inverse=True)[1].reshape(rows.shape) + 1
        is_other: NDArray[np.bool_] = numbers[:, 0] != numbers[:, 1]
        return numbers[is_other]
    followers, following = rows.T.astype(np.float64)
    random, nobody = np.random.default_rng(seed), np.empty((0, 2), np.int64)
    return _drawn(followers, following, int(followers.sum()), random, nobody)


def _drawn(
    popular: Weights, curious: Weights, count: int, random: np.random.Generator, known: Edges
) -> Edges:
    """Return about ``count`` edges, the known ones and others: authors and readers by weights."""
    people = len(popular)
    codes = (known[:, 0] - 1) * people + known[:, 1] - 1
    for _ in range(MOST_ROUNDS):
        missing = count - len(codes)
        authors = random.choice(people, missing, p=popular / popular.sum())
        readers = random.choice(people, missing, p=curious / curious.sum())
        drawn = (authors * people + readers)[authors != readers]
        codes = np.unique(np.concatenate((codes, drawn)))
    return np.column_stack(np.divmod(codes, people)) + 1


def _of_person_1(rows: Edges, people: int, count: int, seed: int) -> Edges:
    """Return edges that person 1 lacks to have ``count`` readers, with random people."""
    others = np.setdiff1d(np.arange(2, people + 1), rows[rows[:, 0] == 1, 1])
    missing = max(0, count - (people - 1 - len(others)))
    chosen = np.random.default_rng(seed).choice(others, missing, replace=False)
    return np.column_stack((np.ones_like(chosen), chosen))


def _zipf_picks(people: int, count: float) -> NDArray[np.int64]:
    """Return how many friends the person of each rank picks, to make about ``count`` in all."""
    share = np.arange(1, people + 1) ** -ZIPF_EXPONENT
    low, high = 0.0, float(people) ** 2
    for _ in range(64):
        scale = (low + high) / 2
        chance = np.minimum(scale * share, people - 1) / people
        # Pairs that pick each other make one friendship, not two.
        expected = people * chance.sum() - (chance.sum() ** 2 - (chance**2).sum()) / 2
        low, high = (scale, high) if expected < count else (low, scale)
    picks: Edges = np.rint(np.minimum(high * share, people - 1)).astype(np.int64)
    return picks


def _undirected(pairs: Edges) -> Edges:
    """Turn 0-based pairs into distinct (smaller id, larger id) rows with ids from 1."""
    return _distinct(np.sort(pairs, axis=1)) + 1


def _distinct(rows: Edges) -> Edges:
    """Return distinct rows, in order."""
    base = int(rows.max(initial=0)) + 1
    packed = np.unique(rows[:, 0] * base + rows[:, 1])
    return np.column_stack(np.divmod(packed, base))

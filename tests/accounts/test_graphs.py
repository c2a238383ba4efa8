import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.graphs import GRAPHS, friendships, ring, star, zipf

SIZES = st.integers(2, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n - 1)))


def degrees(people, edges):
    return np.bincount(edges.ravel(), minlength=people + 1)[1:]


@pytest.mark.parametrize("name", GRAPHS)
@given(size=SIZES, seed=st.integers(0, 9))
def test_every_graph_names_each_friendship_of_two_people_once(name, size, seed):
    people, friends = size
    if name == "ring" and people % 2 and friends % 2:
        return
    edges = GRAPHS[name](people, friends, seed)

    assert len(np.unique(edges, axis=0)) == len(edges)
    assert (edges[:, 0] < edges[:, 1]).all()
    assert edges.size == 0 or (edges.min() >= 1 and edges.max() <= people)


@given(size=SIZES)
def test_in_a_ring_everyone_has_exactly_the_requested_friends(size):
    people, friends = size
    if people % 2 and friends % 2:
        with pytest.raises(ValueError, match="both are odd"):
            ring(people, friends, 0)
    else:
        assert set(degrees(people, ring(people, friends, 0))) == {friends}


def test_the_star_has_one_person_with_friends():
    assert list(degrees(6, star(6, 4, 0))) == [4, 1, 1, 1, 1, 0]


def test_zipf_has_the_requested_mean_and_a_few_people_with_very_many_friends():
    friends = degrees(1000, zipf(1000, 100, 7))

    assert friends.mean() == pytest.approx(100, rel=0.05)
    assert friends.max() > 5 * np.median(friends)


@pytest.mark.parametrize("name", GRAPHS)
def test_person_1_has_at_least_the_largest_number_of_friends(name):
    rows = friendships(people=1000, friends=10, graph=name, seed=7, largest=300)

    pairs = {tuple(row) for row in rows.tolist()}
    assert len(pairs) == len(rows)
    assert pairs == {(b, a) for a, b in pairs}
    assert (rows[:, 0] == 1).sum() == 300
    assert (rows[:, 0] != rows[:, 1]).all()


def test_zipf_is_repeatable_by_its_seed():
    assert np.array_equal(zipf(200, 20, 7), zipf(200, 20, 7))
    assert not np.array_equal(zipf(200, 20, 7), zipf(200, 20, 8))


@pytest.mark.parametrize(("name", "authors"), [("ring", 50), ("zipf", 50), ("star", 1)])
def test_the_next_person_is_a_friend(name, authors):
    """Load generators rely on this to read a friend's feed."""
    edges = {tuple(edge) for edge in GRAPHS[name](50, 10, 7)}

    for author in range(1, authors + 1):
        neighbour = author % 50 + 1
        assert (min(author, neighbour), max(author, neighbour)) in edges

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.graphs import GRAPHS, edges, ring, star, zipf, zipf_of_follows

SIZES = st.integers(2, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n - 1)))


def degrees(people, edges):
    return np.bincount(edges.ravel(), minlength=people + 1)[1:]


@pytest.mark.parametrize("name", GRAPHS["friends"])
@given(size=SIZES, seed=st.integers(0, 9))
def test_every_graph_names_each_friendship_of_two_people_once(name, size, seed):
    people, friends = size
    if name == "ring" and people % 2 and friends % 2:
        return
    found = GRAPHS["friends"][name](people, friends, seed)

    assert (found[:, 0] < found[:, 1]).all()
    assert_distinct(found, people)


@pytest.mark.parametrize("name", GRAPHS["follows"])
@given(size=SIZES, seed=st.integers(0, 9))
def test_every_graph_names_each_follow_once(name, size, seed):
    people, followers = size
    found = GRAPHS["follows"][name](people, followers, seed)

    assert (found[:, 0] != found[:, 1]).all()
    assert_distinct(found, people)


def assert_distinct(found, people):
    assert len(np.unique(found, axis=0)) == len(found)
    assert found.size == 0 or (found.min() >= 1 and found.max() <= people)


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


def test_of_follows_some_have_very_many_and_others_follow_very_many():
    found = zipf_of_follows(1000, 100, 7)
    followers, following = (np.bincount(side, minlength=1001)[1:] for side in found.T)

    assert len(found) == 100_000
    for counts in (followers, following):
        assert counts.max() > 5 * np.median(counts)
    assert abs(np.corrcoef(followers, following)[0, 1]) < 0.2


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in GRAPHS for name in GRAPHS[kind]]
)
def test_person_1_has_at_least_the_largest_number_of_readers(kind, name):
    rows = edges(kind, people=1000, friends=10, graph=name, seed=7, largest=300)

    pairs = {tuple(row) for row in rows.tolist()}
    assert len(pairs) == len(rows)
    assert (kind == "friends") == (pairs == {(b, a) for a, b in pairs})
    assert (rows[:, 0] == 1).sum() == 300
    assert (rows[:, 0] != rows[:, 1]).all()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("author_id,reader_id\n70,5\n5,9\n5,5\n5,9\n", [[1, 2], [3, 1]]),
        ("followers,following\n2,0\n0,1\n0,1\n", [[1, 2], [1, 3]]),
    ],
)
def test_a_graph_is_read_from_a_file(text, found, tmp_path):
    path = tmp_path / "graph.csv"
    path.write_text(text)

    rows = edges("follows", people=3, friends=0, graph=str(path), seed=7)

    assert rows.tolist() == found


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "author_id,reader_id\n1,x\n", None])
def test_any_other_file_is_refused(text, tmp_path):
    path = tmp_path / "graph.csv"
    if text is not None:
        path.write_text(text)

    with pytest.raises(ValueError, match="no graph"):
        edges("follows", people=3, friends=0, graph=str(path), seed=7)


def test_zipf_is_repeatable_by_its_seed():
    assert np.array_equal(zipf(200, 20, 7), zipf(200, 20, 7))
    assert not np.array_equal(zipf(200, 20, 7), zipf(200, 20, 8))


@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize(("name", "authors"), [("ring", 50), ("zipf", 50), ("star", 1)])
def test_the_next_person_is_a_reader(kind, name, authors):
    """Load generators rely on this to read a reader's feed."""
    found = edges(kind, people=50, friends=10, graph=name, seed=7).tolist()

    for author in range(1, authors + 1):
        assert [author, author % 50 + 1] in found

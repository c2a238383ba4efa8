"""The parts of the bench that run in the service."""

import io
import json
from contextlib import redirect_stdout

import numpy as np
import pytest
from django.core.management import call_command

from accounts.models import Follow
from bench.contents import begin, check, empty
from bench.engine import Engine, make_posts, run_graph
from bench.graphs import fillers, graphs
from feed.models import Post
from feed.timeline_stores import get_timeline_store
from tests.lab.planted.stores import Duplicating, Lossy

PEOPLE, FRIENDS = [30, 60], [5, 20]
EVERYONE = np.arange(1, max(PEOPLE) + 3)


@pytest.fixture
def seeded(db):
    call_command("seed_bench", people=PEOPLE, friends=FRIENDS)


@pytest.fixture
def engine(seeded, settings):
    settings.FEED_TIMELINE_STORE = "packed"
    store = get_timeline_store()
    begin(store, EVERYONE)
    return Engine(store, cell_s=0.05)


@pytest.fixture
def graph():
    return graphs(PEOPLE, FRIENDS)[-1]


def quietly(work, *arguments, **options):
    """Return the result of ``work``, and its messages to the laboratory."""
    with redirect_stdout(io.StringIO()) as out:
        result = work(*arguments, **options)
    return result, [json.loads(line) for line in out.getvalue().splitlines()]


def test_graphs_are_deterministic_and_nobody_posts_in_two():
    once, again = (graphs(PEOPLE, FRIENDS) for _ in range(2))
    posters = np.concatenate([graph.posters for graph in once])

    assert [graph.posters.tolist() for graph in once] == [g.posters.tolist() for g in again]
    assert (once[-1].friend_ids() == again[-1].friend_ids()).all()
    assert len(np.unique(posters)) == len(posters)


def test_friends_are_distinct_others_among_the_people():
    for graph in graphs(PEOPLE, FRIENDS):
        for poster, friends in zip(graph.posters, graph.friend_ids(), strict=True):
            assert len(np.unique(friends)) == graph.friends
            assert poster not in friends
            assert 1 <= friends.min() <= friends.max() <= graph.people


def test_only_possible_graphs_are_made_and_too_few_people_are_refused():
    assert [graph[:2] for graph in graphs([10, 100], [50])] == [(100, 50)]
    with pytest.raises(ValueError, match="too few"):
        graphs([3, 4], [1, 2])


def test_the_table_names_the_friends_of_posters(seeded):
    for graph in graphs(PEOPLE, FRIENDS):
        rows = Follow.objects.filter(author_id=graph.posters[0])
        assert set(rows.values_list("reader_id", flat=True)) == set(graph.friend_ids()[0].tolist())


def test_a_cell_delivers_whole_batches_of_fresh_posts(engine, graph):
    cell, emitted = quietly(engine.cell, graph, 25)

    assert emitted == [{"kind": "begin"}]
    assert cell["deliveries"] % (25 * (graph.friends + 1)) == 0
    assert 0 < cell["client_s"] <= cell["wall_s"] * 1.1
    assert len(engine.delivered) * (graph.friends + 1) >= cell["deliveries"]
    assert check(engine.timeline, graph, engine.delivered).ok


def test_a_batch_that_would_take_too_long_is_left_out(engine, graph):
    engine.rate = 1.0

    cell, _ = quietly(engine.cell, graph, 25)

    assert cell == {"deliveries": 0, "wall_s": None, "client_s": None}
    assert not Post.objects.exists()


@pytest.mark.parametrize(("wrong", "lost", "forgotten"), [("missing", 1, 0), ("unexpected", 0, 1)])
def test_the_check_finds_what_is_wrong(wrong, lost, forgotten, engine, graph):
    posts = make_posts(np.repeat(graph.posters, 10))
    quietly(engine.deliver, posts[lost:], 25, each=graph.friends + 1)
    delivered = [(post.id, post.author_id) for post in posts[forgotten:]]

    found = check(engine.timeline, graph, delivered).as_dict()

    counts = {kind: found[kind] for kind in ("missing", "unexpected", "duplicated")}
    assert {kind for kind, count in counts.items() if count} == {wrong}


def test_the_check_finds_duplicates(seeded, graph, redis_url):
    engine = Engine(Duplicating("twice", url=redis_url))
    posts = make_posts(np.repeat(graph.posters, 10))
    quietly(engine.deliver, posts, 25, each=graph.friends + 1)

    found = check(engine.timeline, graph, engine.delivered)

    assert found.duplicated > 0 == found.missing


def test_a_store_that_loses_posts_fails_its_check(seeded, graph):
    right, emitted = quietly(run_graph, Engine(Lossy("lossy"), cell_s=0.05), graph, [25])

    *_, check = emitted
    assert not right
    assert check["kind"] == "check"
    assert check["missing"] > 0 == check["unexpected"]


@pytest.mark.parametrize("store", ["setbased", "packed", "ring"])
def test_an_emptied_store_has_no_timelines(store, seeded, redis, settings, transactional_db):
    settings.FEED_TIMELINE_STORE = store
    timeline = get_timeline_store()
    begin(timeline, EVERYONE)
    (post,) = make_posts(np.array([fillers(max(PEOPLE))[0].author_id]))
    timeline.deliver([post])
    assert timeline.members(1) == [post.id]

    empty(timeline)

    assert timeline.members(1) == []

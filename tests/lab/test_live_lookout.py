"""The look-ups of the live page's load, and when it may expect a post."""

import json

import pytest

from lab.live.load import LiveLoad
from lab.live.lookout import CELLS, DUE_S, FIRST_ROUND_S, ROUND_EVERY_S, Lookout, Post
from lab.systems.api import read_people
from launch.processes import free_port
from locustfiles.connections import Answer

POST = Post(id=7, author=3, accepted_at=100.0)
DUE_AT = POST.accepted_at + DUE_S + 1
NO_BACKLOG = {"posts": 0, "oldest_age_s": None}


@pytest.fixture
def lookout(tmp_path):
    tokens = tmp_path / "tokens.csv"
    rows = [f"{number},token{number}" for number in range(1, 301)]
    tokens.write_text("\n".join(["person_id,token", *rows]))
    return Lookout(read_people(tokens), friends=200, host="feed.example")


def look(lookout, at, *shown):
    """Send what is due, answer each with these posts, and return how many there were."""
    posts = [{"id": post_id, "author": author} for post_id, author in shown]
    requests = [request for _, request in lookout.requests(at, 0.25)]
    for request in requests:
        assert request.fault_of(Answer(200, b"", json.dumps({"posts": posts}).encode())) == ""
    return len(requests)


@pytest.mark.parametrize(
    ("shown", "found"),
    [
        ([(7, 3), (6, 3)], True),
        ([(6, 3)], False),
        ([(7, 4)], False),  # another post with its id
    ],
)
def test_a_delivered_post_that_no_feed_shows_is_missing(shown, found, lookout):
    lookout.accepted(POST)
    lookout.backlog(DUE_AT, NO_BACKLOG)
    look(lookout, DUE_AT, *shown)
    look(lookout, DUE_AT + 0.25)

    counts = {"found": int(found), "missing": int(not found), "pending": 0}
    assert lookout.figures()["audit"] == counts


def test_a_post_of_the_backlog_is_not_looked_for_by_the_audit(lookout):
    lookout.accepted(POST)
    lookout.backlog(DUE_AT, {"posts": 9, "oldest_age_s": 5.0})

    assert look(lookout, 100.0) == 0
    assert lookout.figures()["audit"] == {"found": 0, "missing": 0, "pending": 1}


def test_the_watched_post_lights_up_where_it_is_shown(lookout):
    lookout.accepted(POST)
    first = POST.accepted_at + FIRST_ROUND_S

    assert look(lookout, first) == CELLS
    assert set(lookout.figures()["watched"]) == {None}
    assert look(lookout, first + ROUND_EVERY_S, (7, 3)) == CELLS
    assert all(age >= ROUND_EVERY_S for age in lookout.figures()["watched"])
    assert look(lookout, first + 2 * ROUND_EVERY_S) == 0
    assert len(lookout.figures()["settled"]) == CELLS


def test_a_refused_look_is_repeated(lookout):
    lookout.accepted(POST)
    lookout.backlog(DUE_AT, NO_BACKLOG)
    for _, request in lookout.requests(DUE_AT, 0.25):
        assert request.fault_of(Answer(503, b"", b"")) == "status 503 without Retry-After"

    assert lookout.figures()["audit"]["pending"] == 1
    assert look(lookout, DUE_AT + 3, (7, 3)) > 0


def test_a_status_may_be_as_old_as_the_first_question_without_an_answer(monkeypatch):
    """The service lets a question share the answer to an earlier one."""
    load, asked_at = LiveLoad(f"http://127.0.0.1:{free_port()}", [], friends=0), []
    monkeypatch.setattr(load.lookout, "backlog", lambda at, told: asked_at.append(at))
    good = Answer(200, b"", json.dumps({"backlog": NO_BACKLOG}).encode())

    for now, answer in ((1.0, Answer(503, b"", b"")), (2.0, good), (3.0, good)):
        monkeypatch.setattr("lab.live.load.time.time", lambda now=now: now)
        load.sample()
        load._tell(answer)

    assert asked_at == [1.0, 3.0]

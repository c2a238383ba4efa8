"""The challenge: a right feed passes every stage, and each planted mistake fails the right one."""

import json
import shutil
import subprocess
import sys

import pytest

from lab.__main__ import COMMANDS
from lab.arguments import parser
from lab.challenge import stages
from lab.challenge.history import History, Operation, Page
from lab.challenge.run import challenge
from lab.challenge.stages import STAGES, chosen
from lab.systems.api import Post
from tests.lab.planted.contestant import FAULTS

CHALLENGE = ["challenge", "--start=x"]
COMMAND = f"{sys.executable} -m tests.lab.planted.contestant"
TIMED = (3, 5, 6)
"""Stages that have to be in time."""
EMPTY = "rm -f $FOLDER/cache"


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(stages, "SETTLE_S", 1.0)
    monkeypatch.setattr(stages, "RATED_S", 4.0)
    monkeypatch.setattr(stages, "ABLE_S", 2.0)
    monkeypatch.setattr(stages, "OVERLOAD_S", 4.0)
    monkeypatch.setattr(stages, "PATIENCE_S", 1.0)


def tried(command, numbers, out):
    challenge(command, chosen(numbers, EMPTY), out, EMPTY)
    found = json.loads((out / "challenge.json").read_text())
    assert (out / "challenge.html").exists()
    return {verdict["stage"]: verdict for verdict in found["stages"]}


@pytest.mark.alone
def test_a_right_feed_passes_every_stage(tmp_path):
    verdicts = tried(COMMAND, None, tmp_path)

    assert [(it["stage"], it["wrong"]) for it in verdicts.values()] == [
        (stage.number, []) for stage in STAGES
    ]
    assert all(verdict["compared"] > 100 for verdict in verdicts.values())


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(name, marks=pytest.mark.alone if n in TIMED else ())
        for name, (n, _) in FAULTS.items()
    ],
)
def test_each_planted_mistake_fails_the_right_stage_with_the_right_words(
    fault, tmp_path, monkeypatch
):
    monkeypatch.setenv("FAULT", fault)
    number, words = FAULTS[fault]
    verdicts = tried(COMMAND, [number], tmp_path)

    assert [n for n, verdict in verdicts.items() if not verdict["passed"]] == [number]
    assert any(words in text for text in verdicts[number]["wrong"]), verdicts[number]


@pytest.mark.parametrize(
    ("program", "starter"), [(sys.executable, "feed.py"), ("node", "feed.js"), ("go", "feed.go")]
)
def test_starters_pass_the_first_stage_and_fail_others(program, starter, tmp_path):
    if not shutil.which(program):
        pytest.skip(f"no {program}")
    command = f"{program} lab/challenge/starters/{starter}"
    if program == "go":  # built before: that can take more than a minute, and a start may not
        build = ["go", "build", "-o", str(tmp_path / "feed"), f"lab/challenge/starters/{starter}"]
        subprocess.run(build, check=True, timeout=600)
        command = str(tmp_path / "feed")
    verdicts = tried(command, [1, 4], tmp_path)

    assert verdicts[1]["wrong"] == []
    assert not verdicts[4]["passed"]
    assert verdicts[4]["kinds"].keys() >= {"double", "lost"}


def test_what_never_answers_fails(tmp_path):
    verdicts = tried("false", [1], tmp_path)

    assert verdicts[1]["wrong"][0].startswith("service ended")


def test_stages_are_chosen_by_number():
    assert [stage.number for stage in chosen(None, None)] == [1, 2, 3, 4, 5, 6]
    assert parser(COMMANDS, None).parse_args([*CHALLENGE, "--stages=1-3,5"]).stages == [1, 2, 3, 5]
    for numbers, what in (([9], "no stage 9"), ([7], "--empty")):
        with pytest.raises(ValueError, match=what):
            chosen(numbers, None)


def asked(person, at, status=200, text="GET /v1/feed/"):
    return Operation(person, text, at, at + 0.1, status)


def test_a_page_is_compared_with_what_it_reaches():
    history = History({1: frozenset({2}), 2: frozenset()})
    for post_id in (3, 1, 2):  # as their answers come
        history.post(asked(2, post_id, 201, "POST /v1/posts/"), Post(post_id, 2))
    history.read(Page(asked(1, 3.05), [Post(2, 2)], None, is_last=False, limit=100))
    history.read(Page(asked(1, 4.0), [Post(3, 2), Post(2, 2)], None, is_last=False, limit=100))
    history.read(Page(asked(1, 4.2), [Post(1, 2)], 2, is_last=True, limit=100))
    assert history.contradictions == []

    history.read(Page(asked(1, 5.0), [Post(3, 2)], None, is_last=True, limit=100))
    history.read(Page(asked(1, 5.2), [Post(1, 2)], 3, is_last=True, limit=100))
    assert [it.kind for it in history.contradictions] == ["back", "back"]

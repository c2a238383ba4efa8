"""Bare queues: how their tasks are counted, and one that loses tasks, which has to be seen."""

import pytest

from lab.experiments import EXPERIMENTS
from lab.experiments.promises import bare
from lab.experiments.promises.bare import Note, counted
from lab.faults.running import serving
from lab.texts.write import COMMITTED, comparison
from tests.lab.runs import run

PROMISES = EXPERIMENTS["promises"]
BEGUN, DONE = False, True
ONCE = [Note(1, 1, BEGUN, 100.0), Note(1, 1, DONE, 101.0)]


@pytest.mark.parametrize(
    ("notes", "held", "found"),
    [
        (ONCE, 0, {"once": 1}),
        ([*ONCE, *ONCE], 0, {"again": 1}),
        ([Note(1, 1, BEGUN, 100.0), *ONCE], 0, {"again": 1}),
        ([Note(1, 1, BEGUN, 100.0)], 0, {"cut_short": 1, "lost": 1}),
        ([Note(1, 1, BEGUN, 100.0)], 1, {"cut_short": 1, "stuck": 1}),
        ([], 0, {"never": 1, "lost": 1}),
        ([], 3, {"never": 1, "stuck": 1}),
    ],
)
def test_a_task_is_counted_by_what_became_of_it(notes, held, found):
    counts = counted(notes, {1: 99.0}, held)

    kinds = ("once", "again", "cut_short", "never", "unsent", "stuck", "lost")
    assert {kind: counts[kind] for kind in kinds if counts[kind]} == found
    assert counts["tasks"] == 1
    assert counts["longest_s"] == (2.0 if DONE in [note.is_done for note in notes] else 0.0)


def test_a_queue_does_not_lose_what_could_not_be_sent():
    counts = counted(ONCE, dict.fromkeys((1, 2, 3, 4), 99.0), held=1, unsent={1, 2})

    assert (counts["unsent"], counts["stuck"], counts["lost"]) == (1, 1, 1)


def test_the_answer_names_the_queues_that_kept_every_task():
    compared = comparison(COMMITTED / "promises")
    named = compared.answer.partition(";")[0].partition(" by ")[2].split(", ")

    forgot = {r.variant for r in compared.results if r.extra["lost"] or r.extra["stuck"]}
    assert {*named} == {r.variant for r in compared.results} - forgot


def test_a_kill_in_a_task_shows_what_the_queue_does_not_promise(tmp_path, monkeypatch):
    """django-tasks-db believes the task to be running."""
    monkeypatch.setattr(bare, "QUIET_S", 12)
    fault = bare.BareFault("kill", bare.kill_tree, times=2)
    with serving(PROMISES.variant("sqlite-task-setbased@django_tasks"), tmp_path) as running:
        counts = bare.observe(running, fault, lambda stage: None)

    assert 2 <= counts["cut_short"] <= counts["stuck"] < counts["tasks"]
    assert counts["once"] + counts["stuck"] == counts["tasks"]
    assert not counts["lost"]


@pytest.mark.parametrize("broker", ["huey", "huey+aof"])
def test_a_broker_that_is_killed_loses_what_it_kept_in_memory_alone(broker, tmp_path, monkeypatch):
    """What was accepted while it was away was never sent: with a log it loses nothing else."""
    monkeypatch.setattr(bare, "QUIET_S", 12)
    with serving(PROMISES.variant(f"sqlite-task-setbased@{broker}"), tmp_path) as running:
        counts = bare.observe(running, bare.FAULTS["messages-killed"], lambda stage: None)

    assert counts["unsent"] > 0
    # With a log: a few at most, answered right before the kill, whose message was on its way.
    assert (counts["lost"] > counts["unsent"] / 10) == (broker == "huey")
    assert counts["once"] + counts["unsent"] + counts["lost"] == counts["tasks"]


def test_a_rate_is_measured_with_what_each_part_used(tmp_path):
    small = ("--people=60", "--users=20", "--run-time=2s")

    done = run(tmp_path, "queues", "--variants=sqlite-task-setbased@dramatiq", *small)

    assert done.result["audit"]["ok"]
    assert done.result["extra"]["idle_workers"] >= 0
    assert "ms/post" in done.report

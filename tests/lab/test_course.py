"""Exercises that check themselves: what is right comes from runs, and wrong answers are refused."""

import pytest

from lab.__main__ import COMMANDS, main, run_options
from lab.arguments import parser
from lab.course import EXERCISES, check, judge
from lab.experiments import EXPERIMENTS
from lab.running.load import chosen
from tests.lab.test_report import result

CLEAN = {"ok": True, "expected": 0}


def ran(variant, **figures):
    return result(variant, **{"audit": CLEAN, **figures})


HALF = {"posts": 270, "expected": 5670, "missing": 2835}
KILLED = {"lost": 202, "duplicated": 0, "phantom": 0, "wrong_pages": 154}
PLANTED = {
    1: ("21", "20", [ran("sqlite-null", audit={"posts": 135, "missing": 2835})]),
    2: ("50 %", "0", [ran("sqlite_per_server-inline-bulk", audit=HALF)]),
    3: (
        "sqlite-inline-setbased",
        "sqlite-null",
        [
            ran("sqlite-inline-setbased", lag_ms={"p99": 4.04}, waiting=0.0),
            ran("sqlite-outbox-setbased", lag_ms={"p99": 107.06}, waiting=0.0),
            ran("sqlite-null", lag_ms={"p99": None}, waiting=1.0),
        ],
    ),
    4: (
        "sqlite-argon2",
        "sqlite-pbkdf2",
        [
            ran("sqlite-pbkdf2", requests=8, failures=0),
            ran("sqlite-argon2", requests=62, failures=0),
        ],
    ),
    5: (
        "sqlite-counter",
        "sqlite-1server",
        [
            ran("sqlite-1server", requests=5, cpu_s={"web": 0.31}),
            ran("sqlite-counter", requests=5, cpu_s={"web": 0.11}),
        ],
    ),
    6: (
        "sqlite-indexed",
        "sqlite-fewer_queries",
        [
            ran("sqlite-fewer_queries", latency_ms={"p50": 6250.93}),
            ran("sqlite-indexed", latency_ms={"p50": 191.74}),
        ],
    ),
    8: ("lost", "duplicated", [ran("sqlite-outbox-setbased@unguarded", audit=KILLED)]),
    10: (
        "sqlite-pull",
        "sqlite-outbox-setbased",
        [
            ran("sqlite-pull", cpu_s={"web": 1.48}),
            ran("sqlite-outbox-setbased", cpu_s={"web": 1.11, "workers": 0.28}),
        ],
    ),
    14: (
        "stuck",
        "again",
        [ran("sqlite-task-setbased@django_tasks", extra={"again": 0, "stuck": 5, "lost": 0})],
    ),
}
"""By lesson: what is right, a planted wrong answer, and the figures that a run of it found."""


def test_every_exercise_has_a_planted_wrong_answer():
    assert PLANTED.keys() == EXERCISES.keys()


@pytest.mark.parametrize("lesson", EXERCISES)
def test_the_right_answer_is_taken_and_the_planted_one_refused(lesson):
    right, wrong, results = PLANTED[lesson]

    assert judge(EXERCISES[lesson], right, results)[0]
    assert not judge(EXERCISES[lesson], wrong, results)[0]


@pytest.mark.parametrize("lesson", EXERCISES)
def test_its_runs_can_be_run(lesson):
    given = parser(COMMANDS, None).parse_args(["run", *EXERCISES[lesson].run.split()])
    experiment = EXPERIMENTS[given.experiment]
    variants = given.variants.split(",")

    assert all(map(experiment.variant, variants))
    assert {it.variant for it in PLANTED[lesson][2]} == set(variants)
    assert chosen(experiment.loads(run_options(experiment, given)), given.loads)
    assert given.shared


def test_a_run_judges(tmp_path, capsys):
    assert main(("check", "1", "20", f"--out={tmp_path}")) == 1
    assert "Wrong: 21." in capsys.readouterr().out
    assert check(EXERCISES[1], "21", tmp_path)


def test_an_answer_that_says_nothing_is_refused_before_a_run(tmp_path, capsys):
    for lesson, answer in ((1, "many"), (3, "sqlite-inlin-setbased"), (9, "1")):
        with pytest.raises(SystemExit):
            main(("check", str(lesson), answer, f"--out={tmp_path / 'none'}"))
    told = capsys.readouterr().err

    assert "'many' is no number" in told
    assert "did you mean sqlite-inline-setbased" in told
    assert "lesson 9 has none" in told
    assert not (tmp_path / "none").exists()


def test_questions_are_printed_without_a_run(capsys):
    assert main(("check",)) == 0
    assert main(("check", "14")) == 0
    assert "(lost or again or stuck)" in capsys.readouterr().out

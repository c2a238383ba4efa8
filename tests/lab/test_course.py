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


PLANTED = {
    1: ("21", "20", [ran("sqlite-null", audit={"posts": 135, "missing": 2835})]),
    2: (
        "50 %",
        "0",
        [ran("sqlite_per_server-inline-bulk", audit={"expected": 3003, "missing": 1502})],
    ),
    3: (
        "sqlite-inline-setbased",
        "sqlite-null",
        [
            ran("sqlite-inline-setbased", lag_ms={"p99": 7.1}, waiting=0.0),
            ran("sqlite-outbox-setbased", lag_ms={"p99": 61.0}, waiting=0.0),
            ran("sqlite-null", lag_ms={"p99": 3.0}, waiting=1.0),
        ],
    ),
    4: (
        "sqlite-argon2",
        "sqlite-pbkdf2",
        [ran("sqlite-pbkdf2", requests=35), ran("sqlite-argon2", requests=140)],
    ),
    5: (
        "sqlite-counter",
        "sqlite-1server",
        [
            ran("sqlite-1server", requests=30, cpu_s={"web": 6.0}),
            ran("sqlite-counter", requests=30, cpu_s={"web": 0.6}),
        ],
    ),
    6: (
        "sqlite-indexed",
        "sqlite-fewer_queries",
        [
            ran("sqlite-fewer_queries", latency_ms={"p50": 3000.0}),
            ran("sqlite-indexed", latency_ms={"p50": 40.0}),
        ],
    ),
    8: ("lost", "duplicated", [ran("sqlite-outbox-setbased@unguarded", audit={"lost": 3})]),
    10: (
        "sqlite-pull",
        "sqlite-outbox-setbased",
        [
            ran("sqlite-outbox-setbased", cpu_s={"web": 1.0, "workers": 0.5}),
            ran("sqlite-pull", cpu_s={"web": 2.0}),
        ],
    ),
    14: ("stuck", "again", [ran("sqlite-task-setbased@django_tasks", extra={"stuck": 5.0})]),
}
"""By lesson: what is right, a planted wrong answer, and figures of the kind that runs give."""


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

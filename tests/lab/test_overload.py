"""The overload experiment: on planted results, and on a real service."""

from dataclasses import replace

import pytest

from lab.experiments import EXPERIMENTS
from lab.experiments.base import RunOptions
from lab.experiments.overload import FIRST_OF_HELD
from lab.experiments.overload.steps import Step, broken, measure_steps, void
from lab.results.requests import Request
from lab.running.matrix import run_in_rounds
from tests.lab.runs import run
from tests.lab.test_capacity import step as searched
from tests.lab.test_report import balance, report_of

OVERLOAD = EXPERIMENTS["overload"]
ALONE = "sqlite-outbox-setbased"
NAME = f"{ALONE}@proxy"
HELD = {1: 1000, 2: 990, 3: 980, 5: 955, 10: 960}
"""Multiple → goodput."""
COLLAPSED = {1: 1000, 2: 858, 3: 400, 5: 90, 10: 700}


def step(multiple, goodput, **figures):
    offered = 1000.0 * multiple
    usual = {
        "arrived_rps": offered,
        "goodput_rps": float(goodput),
        "refused_rps": offered - goodput,
        "failed_rps": 0.0,
        "p50_ms": 4.0,
        "p99_ms": 900.0,
        "refused_p50_ms": 0.4,
        "refused_p99_ms": 2.0,
        "probe_p99_ms": 80.0,
        "slowest_probe_s": 0.12,
        "generator_late_ms": 3.0,
        "sent": 1.0,
    }
    return Step(float(multiple), offered, **usual | figures)


def result(goodputs, variant=NAME, **figures):
    """A run whose steps had these goodputs; ``figures`` are those of its last step."""
    steps = [step(multiple, goodput) for multiple, goodput in goodputs.items()]
    steps.append(step(1, goodputs[1])._replace(**figures))
    why = [reason for one in steps for reason in broken(one, steps[0])]
    extra = {"held": float(not why)}
    for turn, one in enumerate(steps, start=1):
        extra |= one.as_extra(turn)
    one = searched(1000, variant=variant, balance=balance(1000, users=1000, arrivals="open"))
    return replace(one, experiment="overload", load="steps", extra=extra, errors=why)


def test_a_service_that_keeps_its_goodput_holds(tmp_path):
    status, markdown = report_of(tmp_path, result(HELD))

    assert status == 0
    assert (
        f"{NAME} accepts 1,000 posts/s at 1x, and at its worst step (5x) 95.50% of that; its "
        "slowest probe took 0.12 s."
    ) in markdown
    assert f"| {NAME}, 5x | clean | sound | 5,000 | 955 | 95.50% | 4,045 | 0 |" in markdown
    assert f"| {NAME}, 1x again | clean | sound | 1,000 | 1,000 |" in markdown


def test_a_proxied_service_that_collapses_does_not_hold_nor_one_that_does_not_recover(tmp_path):
    failed, markdown = report_of(tmp_path / "collapsed", result(COLLAPSED))
    status, again = report_of(tmp_path / "again", result(HELD, goodput_rps=700.0))

    assert (failed, status) == (1, 1)
    assert f"| {NAME}, 2x | NOT HELD: clean |" in markdown
    assert f"| {NAME}, 1x | clean |" in markdown
    assert "0.12 s. Not as it should be: 2x, 3x, 5x, 10x." in markdown
    assert "at 5x goodput 90/s < 950/s" in markdown
    assert f"| {NAME}, 1x again | NOT HELD: clean |" in again


def test_without_a_proxy_a_collapse_is_the_control(tmp_path):
    status, markdown = report_of(tmp_path, result(HELD), result(COLLAPSED, ALONE))

    assert status == 0
    assert f"| {ALONE}, 2x | clean |" in markdown
    assert "This control is red: it collapsed at 3x, 5x." in markdown
    assert "posts/s not accepted" in (tmp_path / "report.html").read_text()


def test_a_control_that_does_not_collapse_is_not_red_and_has_to_hold_the_first_step(tmp_path):
    status, markdown = report_of(tmp_path / "held", result(HELD, ALONE))
    failed, broken = report_of(tmp_path / "broken", result(HELD | {1: 940}, ALONE))

    assert (status, failed) == (0, 1)
    assert "This control is NOT red: no sound step collapsed." in markdown
    assert f"| {ALONE}, 1x | NOT HELD: clean |" in broken


@pytest.mark.parametrize(
    ("figures", "reason"),
    [
        ({"goodput_rps": 949.0}, "at 2x goodput 949/s < 950/s"),
        ({"failed_rps": 21.0}, "at 2x 1.1% neither accepted nor refused"),
        ({"slowest_probe_s": 1.2}, "at 2x a probe took 1.2 s"),
        ({"slowest_probe_s": None}, "at 2x a probe took - s"),
    ],
)
def test_each_limit_is_reported(figures, reason):
    assert list(broken(step(2, 1000, **figures), step(1, 1000))) == [reason]


@pytest.mark.parametrize(
    ("figures", "reason"),
    [
        ({"generator_late_ms": 120.0}, "at 1x the load generator itself was late by 120 ms"),
        ({"sent": 0.98}, "at 1x the load generator sent only 98.0% of its arrivals"),
    ],
)
def test_a_generator_that_lost_its_schedule_makes_the_run_void(tmp_path, figures, reason):
    assert list(void(step(1, 1000, **figures))) == [reason]

    status, markdown = report_of(tmp_path, result(HELD, **figures))

    assert status == 3
    assert f"| {NAME}, 1x again | clean | inconsistent |" in markdown
    assert f"| {NAME}, 1x | clean | sound |" in markdown


def search(options, limit):
    """Search on a service that holds up to ``limit``; return the results."""
    results = []

    def run(variant, load):
        results.append(searched(load.users, held=load.users <= limit))
        results[-1].load = load.name
        return results[-1]

    run_in_rounds(OVERLOAD, [OVERLOAD.variant(NAME)], options, run)
    return results


def test_a_search_is_followed_by_the_steps_from_a_share_of_what_held():
    results = search(RunOptions(users=40), limit=47)

    assert results[-1].load == "steps"
    held = max(run.offered_rps for run in results[:-1] if run.offered_rps <= 47)
    assert results[-1].offered_rps == round(FIRST_OF_HELD * held)


def test_without_a_rate_that_holds_there_are_no_steps():
    assert {one.offered_rps for one in search(RunOptions(users=10), limit=0)} == {10}


def test_figures_of_a_step_are_of_the_arrivals_that_were_due_in_it(tmp_path):
    (tmp_path / "steps.csv").write_text("rate,start,end,late_p99_ms\n2,100,104,1.5\n")
    (tmp_path / "probes.csv").write_text(
        "timestamp,seconds,status\n90,9,200\n99.5,0.7,503\n101,0.2,200\n104.1,9,200\n"
    )
    post = "POST /v1/posts/"
    requests = [
        Request(post, 99.0, 101.0, ""),
        Request(post, 100.0, 100.5, ""),
        Request(post, 101.0, 104.5, ""),
        Request(post, 102.0, 102.001, "status 503 with Retry-After"),
        Request(post, 102.0, 102.001, "status 503 without Retry-After"),
        Request(post, 103.0, 108.0, "client time-out"),
        Request(post, 103.0, 103.0, "dropped: too many unanswered"),
        Request(post, 104.0, 104.1, ""),
    ]

    (found,) = measure_steps(tmp_path, requests, [1.0])

    assert (found.arrived_rps, found.goodput_rps) == (1.5, 0.5)
    assert (found.refused_rps, found.failed_rps) == (0.25, 0.75)
    assert (found.p50_ms, found.refused_p50_ms) == (2000.0, 1.0)
    assert (found.slowest_probe_s, found.probe_p99_ms) == (0.7, 695.0)
    assert found.sent == 0.625


def test_steps_on_a_real_service(tmp_path):
    small = ("--loads=steps", "--users=10", "--people=30", "--friends=5", "--run-time=1s")

    found = run(tmp_path, "overload", f"--variants={ALONE}", *small).result

    assert found["audit"]["ok"]
    assert found["audit"]["posts"] == 2 * sum((10, 20, 30, 50, 100, 10))  # each with a warm-up
    assert "--loads steps --users 10" in found["environment"]["command"]
    assert [found["extra"][f"step{n}_offered_rps"] for n in range(1, 7)] == [
        *(10, 20, 30, 50, 100, 10)
    ]

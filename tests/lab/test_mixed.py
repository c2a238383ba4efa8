"""Push and pull on posts and reads: on planted costs, and on a real service."""

import csv
from collections import Counter
from dataclasses import replace

import pytest

from lab.experiments import EXPERIMENTS
from lab.experiments.base import RunOptions
from lab.experiments.mixed.costs import costs_of
from lab.experiments.mixed.crossover import MOST_STEPS, Bracket, Nowhere, crossing
from lab.running.matrix import run_in_rounds
from tests.lab.runs import run as laboratory
from tests.lab.test_report import ENVIRONMENT, HALF, balance, report_of, result

MIXED = EXPERIMENTS["mixed"]
PULL, PUSH, DEAR = "mysql_tuned-pull", "mysql_tuned-outbox-ring", "mysql_tuned-inline-setbased"
POST_US = {
    PULL: {"web": 700.0, "database": 100.0},
    PUSH: {"web": 800.0, "workers": 300.0, "database": 200.0, "redis": 100.0},
    DEAR: {"web": 1800.0, "database": 900.0},
}
READ_US = {
    PULL: {"web": 600.0, "database": 500.0},
    PUSH: {"web": 650.0, "redis": 50.0},
    DEAR: {"web": 600.0, "database": 200.0},
}
BASE_CORES = {PUSH: 0.02}
RATE, WINDOW_S = 200, 10
CROSSOVER = (1400 + 100 - 800) / (1100 - 700 - 100)
"""Of PULL and PUSH; 0.02 cores are 100 us of each of 200 operations per second."""


def run_of(variant, reads, repeat=1, noise=1.0, **figures):
    """A run whose CPU is what the planted costs say, times ``noise``."""
    operations = RATE * WINDOW_S
    posts = operations / (1 + reads)
    cpu_s = {
        role: noise
        * (
            posts * POST_US[variant].get(role, 0.0)
            + (operations - posts) * READ_US[variant].get(role, 0.0)
        )
        / 1e6
        for role in ("web", "workers", "database", "redis")
    }
    cpu_s["workers"] += BASE_CORES.get(variant, 0.0) * WINDOW_S
    sides = balance(RATE, users=RATE, arrivals="open")
    defaults = {
        "experiment": "mixed",
        "environment": ENVIRONMENT | {"seed": {"people": 1000, "friends": 500, "graph": "ring"}},
        "load": f"reads{reads:g}",
        "offered_rps": RATE,
        "achieved_rps": None,
        "failures": 0,
        "requests": operations,
        "window_s": WINDOW_S,
        "cpu_s": cpu_s,
        "extra": {
            "posts": posts,
            "reads": operations - posts,
            "cpu_ms": sum(cpu_s.values()) * 1000 / operations,
        },
        "balance": replace(sides, accepted=posts, delivered=posts, backlog_growth=0),
    }
    return result(variant, repeat, **(defaults | figures))


def runs_of(*variants, reads=(0, 1, 10, 30, 100)):
    return [run_of(variant, ratio) for ratio in reads for variant in variants]


def test_the_costs_of_posts_and_reads_are_found_again():
    pull, push = costs_of(runs_of(PULL, PUSH))

    for found in (pull, push):
        for costs_us, planted in (
            (found.post_us, POST_US[found.variant]),
            (found.read_us, READ_US[found.variant]),
        ):
            used = {role: us for role, us in costs_us.items() if us}
            assert used == pytest.approx(planted, rel=0.01)
        assert found.residual < 0.001
    used = {role: cores for role, cores in push.base_cores.items() if cores}
    assert used == {"workers": pytest.approx(0.02, abs=0.001)}
    assert (push.graph, push.people, push.friends, push.runs) == ("ring", 1000, 500, 5)


def test_runs_at_two_rates_tell_what_each_role_uses_whatever_the_rate():
    fast, slow = runs_of(PUSH), runs_of(PUSH)
    for run in slow:
        run.window_s *= 4
        run.cpu_s["workers"] += BASE_CORES[PUSH] * 3 * WINDOW_S
    for run in (*fast, *slow):
        run.cpu_s["database"] += 0.03 * run.window_s

    (found,) = costs_of([*fast, *slow])

    used = {role: cores for role, cores in found.base_cores.items() if cores}
    assert used == pytest.approx({"workers": 0.02, "database": 0.03}, abs=0.001)
    assert found.post_us["database"] == pytest.approx(POST_US[PUSH]["database"], rel=0.01)


@pytest.mark.parametrize(
    "figures",
    [
        {"audit": HALF},
        {"audit": None},
        {"failures": 10},
        {"cpu_s": {"web": 1.0, "database": None}},
        {"balance": replace(balance(), backlog_growth=200)},
        {"load": "social"},
    ],
)
def test_a_run_that_is_no_measurement_of_costs_is_left_out(figures):
    assert costs_of([run_of(PULL, 0), run_of(PULL, 10, **figures)]) == []
    assert len(costs_of([run_of(PULL, 0), run_of(PULL, 10)])) == 1


def test_a_run_that_does_not_fit_gives_a_residual_but_no_negative_cost():
    (found,) = costs_of([*runs_of(PULL), run_of(PULL, 3, noise=1.5)])
    (bent,) = costs_of([run_of(PULL, 0), run_of(PULL, 1, noise=0.1)])

    assert found.residual > 0.2
    assert min(*bent.post_us.values(), *bent.read_us.values()) == 0


def test_the_curves_cross_where_the_lines_meet():
    pull, push = {0: 1.0, 1: 2.0, 10: 4.0}, {0: 3.0, 1: 3.0, 10: 3.0}

    found = crossing(pull, {"push": push, "dear": dict.fromkeys(push, 3.5)})

    assert (found.low, found.high, found.push) == (1, 10, "push")
    assert found.at == pytest.approx(2.38)  # its share of reads is halfway from 1's to 10's
    assert found.middle == pytest.approx(found.at)


def test_where_noise_makes_them_cross_again_all_crossings_are_in_the_bracket():
    pull, push = {0: 1.0, 1: 2.2, 3: 1.8, 10: 4.0}, dict.fromkeys((0, 1, 3, 10), 2.0)

    found = crossing(pull, {"push": push})

    assert (found.low, found.high) == (0, 10)


def test_one_of_them_may_win_everywhere():
    assert crossing({0: 1.0, 9: 1.0}, {"push": {0: 2.0, 9: 2.0}}) == Nowhere("pull", 0, 9)
    assert crossing({0: 3.0, 9: 3.0}, {"push": {0: 2.0, 9: 2.0}}) == Nowhere("push", 0, 9)
    assert crossing({0: 3.0}, {"push": {9: 2.0}}) is None


def search(variants):
    """Search on a service with the planted costs; return the runs."""
    done = []

    def run(variant, load):
        done.append(run_of(variant.name, float(load.name.removeprefix("reads"))))
        return done[-1]

    known = [MIXED.variant(name) for name in variants]
    run_in_rounds(MIXED, known, RunOptions(), run)
    return done


def test_the_crossover_is_searched_with_pull_and_the_best_push():
    done = search((PULL, PUSH, DEAR))

    grid, steps = done[:15], done[15:]
    assert {run.variant for run in grid} == {PULL, PUSH, DEAR}
    assert {run.variant for run in steps} == {PULL, PUSH}
    assert len(steps) <= 2 * MOST_STEPS
    for load in {run.load for run in steps}:
        assert {run.variant for run in steps if run.load == load} == {PULL, PUSH}
    curves = {
        name: {
            float(run.load.removeprefix("reads")): run.extra["cpu_ms"]
            for run in done
            if run.variant == name
        }
        for name in (PULL, PUSH, DEAR)
    }
    found = crossing(curves.pop(PULL), curves)
    assert isinstance(found, Bracket)
    assert found.is_narrow
    assert found.low <= CROSSOVER <= found.high
    assert found.at == pytest.approx(CROSSOVER, rel=0.02)
    assert len(search((PUSH, DEAR))) == 10  # without pull there is nothing to search


def test_the_report_says_the_crossover_with_its_spread(tmp_path):
    noises = {1: 1.0, 2: 1.1, 3: 0.9}
    runs = [
        run_of(name, reads, repeat, noise if name == PULL else 1.0)
        for repeat, noise in noises.items()
        for reads in (0, 1, 10)
        for name in (PULL, PUSH)
    ]

    status, markdown = report_of(tmp_path, *runs)

    assert status == 0
    assert (
        "At 200 operations/s pull costs less CPU than push below 2.33 reads per post (from 1.51 to "
        f"4.11 in 3 repeats); above, {PUSH} costs least."
    ) in markdown
    page = (tmp_path / "report.html").read_text()
    assert "pages read per post, by their share" in page
    assert f"{PULL}: a post costs" in page


def test_a_run_that_answered_too_little_has_no_part_in_the_crossover(tmp_path):
    late = run_of(PULL, 1, balance=balance(RATE, users=RATE, arrivals="open", begun_rps=RATE / 2))
    runs = [run for run in runs_of(PULL, PUSH) if (run.variant, run.load) != (PULL, "reads1")]

    status, markdown = report_of(tmp_path, *runs, late)

    assert status == 3
    assert "| clean | inconsistent |" in markdown
    assert "2.33 reads per post (between 0 and 10)" in markdown


def test_the_rate_that_holds_is_searched_at_some_reads_per_post(tmp_path):
    options, done = RunOptions(loads="holds10", users=200), []

    def run_one(variant, load):
        holds = load.users <= 330
        more = {"load": load.name, "offered_rps": load.users, "achieved_rps": float(load.users)}
        done.append(run_of(variant.name, 10, **more))
        done[-1].extra["held"] = float(holds)
        done[-1].errors += [] if holds else ["broke: p99 2,000 ms > 1,000"]
        return done[-1]

    known = [MIXED.variant(PULL)]
    run_in_rounds(MIXED, known, options, run_one)

    loads = MIXED.loads_of(known[0], RunOptions(loads="reads0.5,social"))
    assert [load.name for load in loads] == ["reads0.5", "social"]
    tried = list(dict.fromkeys(run.load.removesuffix("_again") for run in done))
    assert tried[:4] == ["reads10at200", "reads10at400", "reads10at300", "reads10at350"]
    (again,) = MIXED.loads_of(known[0], RunOptions(loads="reads10at300"))
    assert (again.users, again.options["posts-per-s"]) == (300, "27.2727")
    sound = [replace(run, balance=balance(run.offered_rps, users=run.offered_rps)) for run in done]
    status, markdown = report_of(tmp_path, *sound)
    assert status == 0
    assert f"{PULL}, holds10: 330 operations/s hold." in markdown


def test_posts_and_reads_on_a_real_service(tmp_path):
    small = ("--users=60", "--people=60", "--friends=58", "--run-time=1s", "--deep-share=0.5")

    done = laboratory(
        tmp_path, "mixed", "--loads=reads4", "--variants=sqlite-outbox-setbased", *small
    )

    result = done.result
    assert result["audit"]["ok"]
    assert result["failures"] == 0, result["errors"]
    assert result["audit"]["posts"] == 12 * 2 + 120  # with the warm-up, and those before the load
    (requests,) = tmp_path.glob("*/requests.csv")
    with requests.open(newline="") as file:
        sent = Counter(row["name"] for row in csv.DictReader(file))
    assert sent == {"/v1/posts/": 24, "/v1/feed/": 32, "/v1/feed/?before": 16 * 4}  # 4 per post
    assert 0 < result["extra"]["posts"] <= 24  # answered within the window
    assert 0 < result["extra"]["reads"] <= 96
    assert result["extra"]["cpu_ms"] > 0

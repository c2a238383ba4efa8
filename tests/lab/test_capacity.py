"""The search for the highest rate that holds: on simulated services, and on a real one."""

from itertools import combinations

import pytest

from lab.experiments import EXPERIMENTS
from lab.experiments.base import RunOptions
from lab.experiments.search import NARROW, STEP, Bracket, Limits, broken, is_far_off
from lab.reporting.comparison import Comparison
from lab.running.matrix import run_in_rounds
from launch.variants import Variant
from tests.lab.planted import BUSY
from tests.lab.runs import run
from tests.lab.test_report import CLEAN, ENVIRONMENT, HALF, balance, report_of, result

CAPACITY = EXPERIMENTS["capacity"]
NAME = "sqlite-inline-setbased"
VARIANT = Variant.named(NAME)
USUAL = RunOptions()


def step(rate, held=True, variant=NAME, repeat=1, **figures):
    """A finished run that answered its whole load, and kept its limits or didn't."""
    defaults = {
        "experiment": "capacity",
        "offered_rps": rate,
        "load": f"{rate}rps",
        "failures": 0,
        "audit": HALF if variant.endswith("null") else CLEAN,
        "achieved_rps": float(rate),
        "requests": 30 * rate,
        "latency_ms": {"p99": 20.0},
        "lag_ms": {"p99": 5.0},
        "drain_s": 0.1,
        "deliveries_per_s": rate * 501.0,
        "window_s": 30,
        "balance": balance(rate, users=rate),
        "cpu_s": {"web": 30.0, "locust": 24.0},
        "extra": {"held": float(held)},
        "errors": [] if held else ["broke: lag p99 812 ms > 500"],
    }
    return result(variant, repeat, **(defaults | figures))


def search(holds, options=USUAL):
    """Run a search with ``holds`` as the service; return the names of the loads."""
    tried = []

    def run(variant, load):
        tried.append(load.name)
        return holds(load)

    run_in_rounds(CAPACITY, [VARIANT], options, run)
    return tried


def up_to(limit):
    return lambda load: step(load.users, held=load.users <= limit)


def rates(tried):
    return [int(name.partition("rps")[0]) for name in tried]


@pytest.mark.parametrize("limit", [12, 47, 333, 500, 875, 999, 2600])
def test_a_search_ends_close_below_the_limit(limit):
    tried = sorted(set(rates(search(up_to(limit)))))

    held = max(rate for rate in tried if rate <= limit)
    broke = min(rate for rate in tried if rate > limit)
    assert broke - held <= max(NARROW * held, STEP)
    assert len(tried) <= 12


def test_a_broken_load_is_tried_once_more():
    tried = search(up_to(600), RunOptions(users=500, own={"limit_rps": 1000}))

    assert tried[:3] == ["500rps", "1000rps", "1000rps_again"]


def test_a_load_that_holds_when_retried_holds():
    """Noisy neighbours slowed the machine once."""
    results = iter([step(500, held=False), step(500), step(1000)])

    tried = search(lambda load: next(results), RunOptions(own={"limit_rps": 1000}))

    assert tried == ["500rps", "500rps_again", "1000rps"]


@pytest.mark.parametrize(
    "far_off",
    [{"achieved_rps": 79.0}, {"audit": None, "achieved_rps": None}, {"audit": HALF}],
    ids=["answers too few", "did not finish", "loses deliveries"],
)
def test_a_load_far_above_the_limit_is_not_retried(far_off):
    tried = search(
        lambda load: step(load.users, held=False, **far_off) if load.users > 100 else step(100),
        RunOptions(users=200),
    )

    assert tried[:2] == ["200rps", "100rps"]
    assert not any(name.endswith("_again") for name in tried)


def test_a_load_far_above_the_limit_is_retried_after_cpu_steal():
    slowed = ENVIRONMENT | {"calibration_ms": 2 * ENVIRONMENT["calibration_ms"]}
    results = iter(
        [step(500), step(1000, held=False, achieved_rps=300.0, environment=slowed), step(1000)]
    )

    tried = search(lambda load: next(results), RunOptions(own={"limit_rps": 1000}))

    assert tried == ["500rps", "1000rps", "1000rps_again"]


def test_no_load_is_tried_above_the_given_maximum():
    assert rates(search(up_to(10**9), RunOptions(users=300, own={"limit_rps": 700}))) == [
        300,
        600,
        700,
    ]
    assert rates(search(up_to(10**9), RunOptions(users=300, own={"limit_rps": 7}))) == [7]


def test_a_search_gives_up_at_the_minimum():
    tried = rates(search(up_to(0), RunOptions(users=40)))

    assert tried == [40, 40, 20, 20, 10, 10]


def test_a_search_stays_inside_its_bracket():
    """For all bounds: rates are rounded, limits need not be."""
    for held, broke in combinations(range(1, 120), 2):
        rate = Bracket(held, broke).next_rate(4000)
        assert rate is None or held < rate < broke


def test_given_loads_are_run_without_a_search():
    assert search(up_to(1000), RunOptions(users=875, loads="875rps")) == ["875rps"]
    with pytest.raises(ValueError, match="'5rps' is unknown; did you mean 875rps"):
        search(up_to(1000), RunOptions(users=875, loads="5rps"))


@pytest.mark.parametrize(
    ("figures", "limit"),
    [
        ({"failures": 10}, "0.33% failed > 0.1%"),
        ({"achieved_rps": 80.0}, "80 answered per second < 99% of 100"),
        ({"latency_ms": {"p99": 1234.0}}, "p99 1,234 ms > 1,000"),
        ({"latency_ms": {"p99": None}}, "p99 - ms > 1,000"),
        ({"lag_ms": {"p99": 812.0}}, "lag p99 812 ms > 500"),
        ({"audit": HALF}, "the audit is not as it should be"),
    ],
)
def test_each_broken_limit_is_reported(figures, limit):
    assert list(broken(step(100, **figures), VARIANT, Limits())) == [limit]


def test_a_variant_that_never_delivers_has_no_lag_limit_and_may_miss_all():
    null, floor = Variant.named("sqlite-null"), step(100, variant="sqlite-null")
    floor.lag_ms = {"p99": None}

    assert not list(broken(floor, null, Limits()))
    assert not is_far_off(floor, null)


def test_a_report_has_a_line_per_variant_and_names_the_limit(tmp_path):
    status, markdown = report_of(
        tmp_path,
        *(step(500), step(1000, held=False), step(750, generator_saturated=True)),
        *(step(700, repeat=2), step(760, repeat=3)),
        *(step(500, variant="sqlite-null"), step(1000, variant="sqlite-null")),
    )

    assert status == 0
    assert markdown.count("| sqlite-inline-setbased |") == 1
    assert "| sqlite-inline-setbased | clean | sound | 750 (700 … 760) |" in markdown
    assert (
        "- sqlite-inline-setbased: 750/s held; 1,000/s broke (lag p99 812 ms > 500); at 750/s 1.8 "
        "of 2 cores are busy (web 1, locust 0.8); Locust itself was at its limit at 750/s."
    ) in markdown
    assert "sqlite-null: 1,000/s held; nothing higher was tried" in markdown
    assert "sqlite-inline-setbased, 1000rps, run 1: broke: lag p99 812 ms > 500" in markdown
    assert "The search" in (tmp_path / "report.html").read_text()


def test_the_answer_names_the_highest_rate_and_the_fan_out_tax():
    other = step(10, variant="sqlite-outbox-bulk")

    said = Comparison([step(950), step(1000, variant="sqlite-null"), other]).answer

    assert said.startswith("sqlite-inline-setbased holds 950 posts/s: 475,950 deliveries/s")
    assert "That is 95 times what sqlite-outbox-bulk holds" in said
    assert said.endswith(
        "Of what sqlite-null holds, sqlite-inline-setbased holds 0.95, sqlite-outbox-bulk holds "
        "0.01."
    )


def test_a_variant_that_holds_no_load_fails_the_report(tmp_path):
    status, markdown = report_of(tmp_path, step(20, held=False), step(10, held=False))

    assert status == 1
    assert "No variant that delivers finished with a clean audit, within the limits" in markdown
    assert "| sqlite-inline-setbased | NOT HELD: clean | sound | - |" in markdown
    assert "no rate holds; 10/s broke (lag p99 812 ms > 500)" in markdown
    assert "nothing held" in (tmp_path / "headline.svg").read_text()


def test_posts_missing_in_a_backlog_are_no_loss_but_after_a_drain_they_are(tmp_path):
    left = step(1000, held=False, audit=HALF, drain_s=None)
    lost = step(1000, held=False, audit=HALF)

    assert report_of(tmp_path / "left", step(500), left)[0] == 0
    status, markdown = report_of(tmp_path / "lost", step(500), lost)
    assert status == 1
    assert "50.0% missing" in markdown


def test_a_broken_limit_and_a_generator_that_was_the_limit_are_recorded(tmp_path, monkeypatch):
    small = ("--people=30", "--friends=5", "--run-time=4s", "--users=20", "--loads=20rps")
    for name, value in BUSY.items():
        monkeypatch.setenv(name, value)

    done = run(tmp_path, "capacity", f"--variants={NAME}", *small, "--limit-p99-ms=0.01")

    found = done.result
    # A busy machine's figures aren't compared: 3.
    assert done.status in (1, 3)
    assert found["extra"].get("held") == 0, found["errors"]
    assert found["audit"]["ok"]
    assert any(error.startswith("broke: p99") for error in found["errors"])
    assert found["generator_saturated"]
    assert "--loads 20rps --users 20" in found["environment"]["command"]
    assert "--limit-p99-ms 0.01" in found["environment"]["command"]
    assert ("NOT HELD: clean" in done.report) == (done.status == 1)

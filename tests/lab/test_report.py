import csv
import json
import re
from dataclasses import replace

import pytest

from lab.__main__ import main
from lab.experiments import EXPERIMENTS
from lab.reporting import plots
from lab.reporting.comparison import Comparison
from lab.reporting.formats import README_MS, speed
from lab.reporting.meanings import MEANINGS
from lab.reporting.page import READING, REPOSITORY, lesson
from lab.results.result import Balance, Result
from lab.running import matrix

CLEAN = {"posts": 9, "expected": 90, "missing": 0, "duplicated": 0, "unexpected": 0, "ok": True}
HALF = CLEAN | {"missing": 45, "ok": False}
ENVIRONMENT = {
    "commit": "abc",
    "command": "python -m lab run fanout --variants x",
    "settings": {"FEED_STRATEGY": "inline"},
    "python": "3.11",
    "packages": {"Django": "5.2"},
    "servers": {"database": "SQLite 3"},
    "cpu": "Thing",
    "cpus": 2,
    "calibration_ms": 50.0,
    "memory_gib": 4,
    "durability_given_away": ["a power cut can take the last commits"],
}


def balance(rate=100.0, users=500, **sides):
    """A balance of closed users, in which the laws hold."""
    defaults = {
        "users": users,
        "arrivals": "closed",
        "pace_s": 1.0,
        "patient": False,
        "rate_rps": rate,
        "cycle_s": users / (rate or 1),
        "begun_rps": rate,
        "in_flight": 3.0,
        "waiting_at_end": 3,
    }
    return Balance(**(defaults | sides))


def result(variant="sqlite-inline-bulk", repeat=1, **figures):
    """A run of fan-out, or of another experiment."""
    defaults = {
        "experiment": "fanout",
        "started_at": f"2026-01-01T00:00:0{repeat}+00:00",
        "environment": ENVIRONMENT,
        "audit": CLEAN,
        "offered_rps": 500,
        "achieved_rps": 100.0,
        "requests": 10,
        "failures": 1,
        "window_s": 20,
        "balance": balance(figures.get("achieved_rps") or 100.0),
    }
    return Result(variant=variant, repeat=repeat, **(defaults | figures))


def report_of(folder, *results):
    """Write results of runs after each other, and report them; return status and Markdown."""
    for number, one in enumerate(results):
        replace(one, started_at=f"2026-01-01T00:00:{number:02}+00:00").write(folder / str(number))
    status = main(["report", str(folder)])
    return status, (folder / "report.md").read_text()


def test_a_machine_is_as_fast_as_the_readmes_or_it_says_how_fast():
    assert "as fast as the README's" in speed([README_MS, 1.2 * README_MS])
    assert "0.5 times as long" in speed([README_MS / 2])
    assert "1.0 to 2.0 times as long" in speed([README_MS, 2 * README_MS])


def test_a_report_names_the_servers_of_all_runs_once(tmp_path):
    servers = [{"servers": {"database": f"MySQL 9.7.4{of}"}} for of in ("", ", and 4 replicas")]
    others = [result("mysql_tuned-inline-bulk", environment=ENVIRONMENT | it) for it in servers]

    _, report = report_of(tmp_path, result(), *others)

    assert "Python 3.11, MySQL 9.7.4, and 4 replicas, SQLite 3, commit abc" in report


def test_the_rate_stands_beside_success_lag_drain_and_audit(tmp_path):
    one = result(lag_ms={"p50": 3.0, "p99": 42.0}, drain_s=0.7, latency_ms={"mean": 12.0})

    status, markdown = report_of(tmp_path, one)

    assert status == 0
    assert "| sqlite-inline-bulk | clean | sound | 500 | 100 | 90.00% | 12 |" in markdown
    assert "| 3 | 42 | - | - | - | - | 0.7 | not measured |" in markdown


def test_the_headline_has_the_lag(tmp_path):
    late = result(lag_ms={"p99": 68_319.0}, achieved_rps=499.6)
    prompt = result("sqlite-outbox-setbased", lag_ms={"p99": 83.6}, achieved_rps=499.0)

    report_of(tmp_path, late, prompt)

    headline = (tmp_path / "headline.svg").read_text()
    assert re.findall(r"lag [\d.]+ s", headline) == ["lag 68.3 s"]


def test_the_offered_rate_is_marked_beside_rates_alone(tmp_path):
    report_of(tmp_path / "rates", result())
    report_of(tmp_path / "shares", result("author_c150_b128_f1_debug", experiment="factors"))

    assert "offered 500" in (tmp_path / "rates/headline.svg").read_text()
    assert "offered" not in (tmp_path / "shares/headline.svg").read_text()


def test_many_bars_become_a_matrix_of_loads_and_variants(tmp_path):
    clean = [result(load=f"load{n}", achieved_rps=100.0 + n) for n in range(30)]
    lossy = result("sqlite-outbox-setbased", load="load0", achieved_rps=99.0, audit=HALF)

    _, markdown = report_of(tmp_path, *clean, lossy)

    headline = (tmp_path / "headline.svg").read_text()
    assert headline.count("<title>") == len(clean) + 1
    assert re.findall(r">(load0|129|99)<", headline) == ["load0", "129"]
    assert "Thin lines" not in markdown


def test_beside_a_matrix_each_variant_is_drawn_under_its_last_load(tmp_path):
    names = ("sqlite-inline-bulk", "sqlite-outbox-setbased")
    runs = [result(name, load=f"load{n}", cpu_s={"web": n}) for n in range(16) for name in names]

    report_of(tmp_path, *runs)

    page = (tmp_path / "report.html").read_text()
    assert "Each variant under its last load." in page
    used = {name: set(re.findall(rf"{name}, (load\d+), web: ", page)) for name in names}
    assert used == {name: {"load15"} for name in names}


def test_a_cell_is_filled_if_there_is_something():
    some, none = plots.Bar("huey", [("tip", 9.5, plots.GREY)], "9.5"), plots.Bar("huey", [], "0")

    filled = [
        plots.matrix({("tree-killed", "huey"): bar}).wide.count("opacity: 0.3")
        for bar in (some, none)
    ]

    assert filled == [1, 0]


def test_the_drawing_for_phones_needs_nothing_of_the_hidden_one():
    drawing = plots.bars([plots.Bar("lossy", [("tip", 1.0, "#123456")], "1", is_crossed=True)])

    wide, narrow = (set(re.findall(r' id="(\w+)"', svg)) for svg in drawing)
    assert wide
    assert not wide & narrow
    assert {*re.findall(r"(?:#|url\(#)(\w{10,})", drawing.narrow)} <= narrow


def test_the_published_figures_and_the_limitations_are_there(tmp_path):
    _, markdown = report_of(tmp_path, result())

    assert "| published: SQLite per app server | 0.64 | 99.19% | 14,980 | 29,450 |" in markdown
    assert "| published: MySQL, default | 16.2 | 15.48% | 4,670 | 14,950 |" in markdown
    assert "one machine" in markdown
    assert "a power cut can take the last commits" in markdown


def test_figures_of_another_load_stand_beside_no_published_ones(tmp_path):
    few = {"seed": {"people": 100, "friends": 20, "graph": "ring"}}

    _, markdown = report_of(tmp_path, result(environment=ENVIRONMENT | few))

    assert "100 people with 20 friends each" in markdown
    assert "published" not in markdown


def test_one_bad_run_among_good_ones_fails_the_report(tmp_path):
    status, markdown = report_of(tmp_path, result(), result(repeat=2, audit=HALF), result(repeat=3))

    assert status == 1
    assert "FAILED: 50.0% missing" in markdown


def test_a_loss_by_design_is_expected(tmp_path):
    status, markdown = report_of(tmp_path, result("sqlite_per_server-inline-bulk", audit=HALF))

    assert status == 0
    assert "50.0% missing (as expected)" in markdown


def test_a_control_that_finds_nothing_fails_the_report(tmp_path):
    """If the audit passes two servers with a file each, the audit is broken."""
    status, markdown = report_of(tmp_path, result("sqlite_per_server-inline-bulk"))

    assert status == 1
    assert "FAILED: clean" in markdown


def test_a_run_that_did_not_finish_fails_the_report_and_says_why(tmp_path):
    unfinished = result(
        audit=None, achieved_rps=None, errors=["locust ended with 2: no such option"]
    )

    status, markdown = report_of(tmp_path, unfinished, result("sqlite-pull"))

    assert status == 1
    assert "DID NOT FINISH" in markdown
    assert "sqlite-inline-bulk, run 1: locust ended with 2: no such option" in markdown


def test_a_file_without_a_result_is_named(tmp_path, capsys):
    (tmp_path / "result.json").write_text('{"speed": "great"}')

    with pytest.raises(SystemExit):
        main(["report", str(tmp_path)])

    assert "result.json is no result" in capsys.readouterr().err


def test_the_answer_names_the_best_clean_variant_and_the_failed_ones():
    quick = result("sqlite-outbox-bulk", achieved_rps=499.0, lag_ms={"p99": 40.0})
    level = result("sqlite-outbox-setbased", achieved_rps=497.0, lag_ms={"p99": 20.0})
    lossy = result("sqlite-inline-bulk", achieved_rps=500.0, audit=HALF)
    compared = Comparison([quick, level, lossy])

    assert [summary.variant.name for summary in compared.ranked] == [
        "sqlite-outbox-setbased",
        "sqlite-outbox-bulk",
    ]
    assert compared.answer.startswith(
        "sqlite-outbox-setbased took 497 of the 500 posts per second that were offered, and 99 % "
        "of them were in every friend's timeline within 20 ms."
    )
    assert (
        "it ties with sqlite-outbox-bulk; time to screen or lag, then cores put it first."
        in compared.answer
    )
    assert "sqlite-inline-bulk" not in compared.answer


def test_of_variants_with_similar_lags_the_one_with_fewer_busy_cores_is_first():
    dear = result(achieved_rps=499.0, lag_ms={"p99": 84.0}, cpu_s={"web": 30.0})
    cheap = result(
        "sqlite-outbox-bulk", achieved_rps=497.0, lag_ms={"p99": 86.0}, cpu_s={"web": 20.0}
    )

    assert Comparison([dear, cheap]).ranked[0].name == "sqlite-outbox-bulk"


def test_rates_far_below_what_is_offered_are_compared_with_each_other():
    soon = result(achieved_rps=6.6, lag_ms={"p99": 20.0})
    more = result("sqlite-outbox-bulk", achieved_rps=10.7, lag_ms={"p99": 900.0})

    assert Comparison([soon, more]).ranked[0].name == "sqlite-outbox-bulk"


def test_a_latency_is_not_ranked_without_the_rates_beside_it():
    def at(variant, p95_ms, rate):
        figures = {"latency_ms": {"p95": p95_ms, "p99": p95_ms}, "achieved_rps": rate}
        return result(variant, experiment="browse", load="stress", failures=0, **figures)

    said = Comparison(
        [at("mysql_tuned-1server", 5_500.0, 115.0), at("sqlite-1server", 11_000.0, 7.0)]
    ).answer

    assert (
        "sqlite-1server, stress takes at least 2 times as long, at 7 against 115 requests/s."
        in said
    )


def test_a_difference_within_the_drift_of_the_machine_is_a_tie():
    slowed = {"environment": ENVIRONMENT | {"calibration_ms": 75.0}, "failures": 0}
    quick = result(achieved_rps=140.0)
    slow = result("sqlite-outbox-bulk", achieved_rps=100.0, **slowed)
    other = result("sqlite-outbox-bulk", achieved_rps=60.0, **slowed)

    assert "ties with sqlite-outbox-bulk" in Comparison([quick, slow]).answer
    assert (
        "That is 2.33 times what sqlite-outbox-bulk answered." in Comparison([quick, other]).answer
    )


def test_with_enough_runs_the_spread_decides_a_tie():
    def runs(variant, *rates):
        return [result(variant, repeat=n, achieved_rps=r) for n, r in enumerate(rates, start=1)]

    quick = runs("sqlite-inline-bulk", 120.0, 121.0, 122.0)

    assert "ties with" in Comparison(quick + runs("sqlite-outbox-bulk", 90.0, 110.0, 121.0)).answer
    assert (
        "ties with" not in Comparison(quick + runs("sqlite-outbox-bulk", 90.0, 91.0, 92.0)).answer
    )


@pytest.mark.parametrize(
    ("figures", "remark"),
    [
        pytest.param(
            {"audit": CLEAN | {"expected": 1000}, "due": 7692},
            "| clean, 13 % compared |",
            id="how much a clean audit compared",
        ),
        pytest.param(
            {"lag_ms": {"p50": 9.0, "p99": 128_000.0}, "waiting": 0.3, "undelivered": 3},
            "| 9 | > 128,000 | 3 |",
            id="a lag is a bound where posts still wait",
        ),
        pytest.param(
            {"screen_ms": {"p50": 9.0, "p99": 800.0}, "shown": 0.6},
            "| 9 | > 800 | 60.00% |",
            id="a time to screen is a bound where posts were never shown",
        ),
        pytest.param(
            {"steal": 0.031},
            "the host gave 3.1% of the window's CPU time to others",
            id="time that the host gave to others",
        ),
    ],
)
def test_what_limits_a_figure_is_told(figures, remark, tmp_path):
    assert remark in report_of(tmp_path, result(**figures))[1]


def test_every_commit_is_named_and_uncommitted_changes_are_told(tmp_path):
    dirty = result(repeat=2, environment=ENVIRONMENT | {"commit": "abc-dirty"})

    _, markdown = report_of(tmp_path, result(), dirty)

    assert "abc-dirty (1)" in markdown
    assert "**Code**: Uncommitted changes in sqlite-inline-bulk" in markdown


@pytest.mark.parametrize(("now", "is_kept"), [("abc", True), ("abd", False), ("abc-dirty", False)])
def test_resuming_keeps_runs_of_the_same_code_if_a_commit_has_it(
    now, is_kept, tmp_path, monkeypatch
):
    for commit in ("abc", "abc-dirty"):
        result(environment=ENVIRONMENT | {"commit": commit}).write(tmp_path / commit)
    monkeypatch.setattr(matrix, "commit", lambda: now)

    kept = matrix._finished(tmp_path, ENVIRONMENT["command"])

    assert bool(kept) == is_kept


def test_lag_is_told_by_the_size_of_authors_where_they_differ(tmp_path):
    extra = {"deliveries_mean": 621.0, "deliveries_p99": 501.0, "deliveries_max": 100_001.0}
    lags = {"lag_p99_to_1000": 80.0, "lag_p99_to_1000000": 900.0}

    _, markdown = report_of(tmp_path, result(extra=extra | lags))

    assert "621 deliveries in the mean, 501 at p99 and 100,001 at most" in markdown
    assert "80 ms for posts with up to 1,000, 900 ms for posts with up to 1,000,000" in markdown


def test_external_servers_are_not_measured(tmp_path):
    """Otherwise their cores would count as 0."""
    one = result(cpu_s={"web": 10.0, "redis": None}, lag_ms={"p99": 9.0})

    _, markdown = report_of(tmp_path, one)

    assert "| not measured |" in markdown
    assert "not started by the laboratory (redis)" in markdown
    assert "Everything ran on one machine" not in markdown


def test_a_pull_store_is_not_ranked():
    compared = Comparison([result(), result("sqlite-pull", achieved_rps=500.0)])

    assert [summary.name for summary in compared.ranked] == ["sqlite-inline-bulk"]


def test_a_variant_is_not_ranked_if_the_generator_was_saturated():
    limited = result("sqlite-outbox-bulk", achieved_rps=500.0, generator_saturated=True)
    compared = Comparison([result(), limited])
    said = "Not ranked: Locust itself was the limit of sqlite-outbox-bulk."

    assert [summary.name for summary in compared.ranked] == ["sqlite-inline-bulk"]
    assert f" {said}" in compared.answer
    assert Comparison([limited]).answer.startswith(said)


def test_repeats_are_shown_with_their_spread(tmp_path):
    runs = [result(repeat=n, achieved_rps=rate) for n, rate in ((1, 90), (2, 10), (3, 80))]

    _, markdown = report_of(tmp_path, *runs)

    assert "| 80 (10 … 90) |" in markdown


def test_the_page_needs_nothing_else_and_has_its_data_beside_it(tmp_path):
    drawn = {"latency_quantiles_ms": [float(n) for n in range(101)], "cpu_s": {"web": 9.0}}
    report_of(tmp_path, result(**drawn))
    page = (tmp_path / "report.html").read_text()

    assert page.count("<svg") == 2 * 3  # each once more, for phones
    assert not re.search(r'(src|href)="(?!results\.|#)', page)
    assert "python -m lab run fanout --variants x" in page
    assert "currentColor" in page
    (row,) = csv.DictReader((tmp_path / "results.csv").read_text().splitlines())
    assert (row["variant"], row["environment.cpus"]) == ("sqlite-inline-bulk", "2")
    assert json.loads((tmp_path / "results.json").read_text())[0]["achieved_rps"] == 100.0


def test_two_runs_are_compared_figure_by_figure(tmp_path, capsys):
    result(achieved_rps=100.0).write(tmp_path / "a" / "1")
    result(achieved_rps=150.0).write(tmp_path / "b" / "1")

    assert main(["compare", str(tmp_path / "a"), str(tmp_path / "b")]) == 0
    out = capsys.readouterr().out
    assert "100 → 150 (x 1.5)" in out
    assert "…" not in out
    page = (tmp_path / "b/compare.html").read_text()
    assert page.count("<svg") == 2
    assert "in the second folder: better: sqlite-inline-bulk." in page
    assert "100 → 150 (x 1.5)" in page


@pytest.mark.parametrize(
    ("figures", "verdict"),
    [
        ({"achieved_rps": 150.0}, "better"),
        ({"achieved_rps": 50.0}, "worse"),
        ({"achieved_rps": 101.0}, "a tie"),
        ({"achieved_rps": None}, "no figure"),
        ({"achieved_rps": 150.0, "audit": HALF}, "not compared, for their audits, laws or Locust"),
        (
            {"achieved_rps": 150.0, "generator_saturated": True},
            "not compared, for their audits, laws or Locust",
        ),
    ],
)
def test_the_answer_of_two_runs_compares_what_can_be_compared(tmp_path, figures, verdict):
    result().write(tmp_path / "a" / "1")
    result(**figures).write(tmp_path / "b" / "1")

    main(["compare", str(tmp_path / "a"), str(tmp_path / "b")])

    page = (tmp_path / "b/compare.html").read_text()
    assert f"in the second folder: {verdict}: sqlite-inline-bulk." in page


@pytest.mark.parametrize(
    ("second", "turns", "verdict"),
    [
        ([202.0, 310.0, 151.0], True, "a tie"),
        ([110.0, 165.0, 78.0], True, "worse"),
        ([110.0, 165.0, 78.0], False, "a tie"),
    ],
)
def test_runs_that_took_turns_are_compared_turn_by_turn(tmp_path, second, turns, verdict):
    """The machine's speed changes between turns by more than the two differ."""
    for turn, (one, other) in enumerate(zip([200.0, 300.0, 150.0], second, strict=True)):
        later = turn * 2 + 1 if turns else turn + 3
        result(repeat=turn * 2 if turns else turn, achieved_rps=one).write(tmp_path / f"a/{turn}")
        result(repeat=later, achieved_rps=other).write(tmp_path / f"b/{turn}")

    main(["compare", str(tmp_path / "a"), str(tmp_path / "b")])

    page = (tmp_path / "b/compare.html").read_text()
    assert f"in the second folder: {verdict}: sqlite-inline-bulk." in page
    if verdict == "worse":
        assert "They took turns" in page
        assert "x 0.55, 0.52 … 0.55" in page


def test_results_of_several_experiments_do_not_share_a_folder(tmp_path, capsys):
    result().write(tmp_path / "1")

    with pytest.raises(SystemExit):
        main(["run", "capacity", "--variants=sqlite-pull", f"--out={tmp_path}"])
    assert "has results of fanout: choose another --out" in capsys.readouterr().err
    result(experiment="capacity").write(tmp_path / "2")
    with pytest.raises(SystemExit):
        main(["report", str(tmp_path)])
    assert "these have capacity, fanout" in capsys.readouterr().err


def test_folders_of_several_experiments_are_not_compared(tmp_path, capsys):
    result().write(tmp_path / "a" / "1")
    result(experiment="capacity").write(tmp_path / "b" / "1")

    with pytest.raises(SystemExit):
        main(["compare", str(tmp_path / "a"), str(tmp_path / "b")])
    assert "these have capacity, fanout" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("figures", "difference"),
    [
        ({"environment": ENVIRONMENT | {"cpus": 64}}, "cpus: 2 and 64"),
        ({"window_s": 5}, "sqlite-inline-bulk, window_s: 20 and 5"),
    ],
)
def test_different_machines_and_loads_are_compared_only_on_request(
    tmp_path, capsys, figures, difference
):
    result().write(tmp_path / "a" / "1")
    result(**figures).write(tmp_path / "b" / "1")
    folders = [str(tmp_path / "a"), str(tmp_path / "b")]

    with pytest.raises(SystemExit):
        main(["compare", *folders])
    assert difference in capsys.readouterr().err
    assert main(["compare", *folders, "--anyway"]) == 0


def test_each_load_has_lines_of_its_own_and_the_heaviest_of_most_variants_is_ranked(tmp_path):
    def at(load, variant, rate):
        return result(variant, load=load, achieved_rps=rate)

    compared = Comparison(
        [
            at("light", "sqlite-inline-bulk", 10.0),
            at("light", "sqlite-outbox-bulk", 9.0),
            at("heavy", "sqlite-inline-bulk", 20.0),
            at("heavy", "sqlite-outbox-bulk", 40.0),
            at("heaviest", "sqlite-inline-bulk", 30.0),
        ]
    )

    assert [summary.name for summary in compared.summaries] == [
        "sqlite-inline-bulk, light",
        "sqlite-outbox-bulk, light",
        "sqlite-outbox-bulk, heavy",
        "sqlite-inline-bulk, heavy",
        "sqlite-inline-bulk, heaviest",
    ]
    assert [summary.name for summary in compared.ranked] == [
        "sqlite-outbox-bulk, heavy",
        "sqlite-inline-bulk, heavy",
    ]


def test_a_report_says_how_long_its_loads_were_measured(tmp_path):
    _, same = report_of(tmp_path / "same", result(), result(repeat=2))
    runs = (result(load=f"{seconds}s", window_s=seconds) for seconds in (10, 300, 60))
    _, different = report_of(tmp_path / "different", *runs)

    assert " 20 s measured in each" in same
    assert " 10 to 300 s measured in each" in different


def test_a_report_links_to_its_lesson_only_from_inside_the_repository(tmp_path):
    inside = lesson("docs/faults.md", REPOSITORY / "results" / "one")

    assert inside["link"] == "../../docs/faults.md"
    assert lesson("docs/faults.md", tmp_path) == {"path": "docs/faults.md", "link": None}


def test_every_lesson_of_a_report_exists():
    presentations = [experiment.presentation for experiment in EXPERIMENTS.values()]
    paths = {READING, *(one.lesson for one in presentations)}

    assert all((REPOSITORY / path).is_file() for path in paths)


def test_every_column_of_every_experiment_is_explained():
    columns = {column.label for it in EXPERIMENTS.values() for column in it.presentation.columns}
    assert {"audit", *columns} <= MEANINGS.keys()

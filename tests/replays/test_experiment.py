"""The replays of published documents: their loads as published, and a tiny run of each."""

import json

import pytest

from lab.__main__ import main
from lab.experiments import EXPERIMENTS
from lab.running.options import RunOptions
from replays.browse.published import Published001
from replays.export import published as export_published

REPLAYS = {name: it for name, it in EXPERIMENTS.items() if it.document}


def loads_of(name):
    return {load.name: load for load in EXPERIMENTS[name].loads(RunOptions())}


def replay(out, name, *options):
    """Run a replay; return its exit status and the results by variant."""
    status = main(["run", name, "--shared", *options, f"--out={out}"])
    assert (out / "report.html").exists()
    found = [json.loads(path.read_text()) for path in out.glob("*/result.json")]
    return status, {result["variant"]: result for result in found}


def test_every_replay_names_its_document(capsys):
    main(["list", "--all"])

    listed = capsys.readouterr().out
    for name, experiment in REPLAYS.items():
        assert f"{name}: {experiment.document}" in listed


def test_replays_have_no_variants_in_common(capsys):
    with pytest.raises(SystemExit):
        main(["run", "published", "--variants=balancer"])

    assert "published-001" in capsys.readouterr().err


def test_published_figures_are_shown_in_columns_that_the_table_has():
    for experiment in EXPERIMENTS.values():
        known = {column.label for column in experiment.presentation.columns}
        assert {
            label for one in experiment.presentation.published for label in one.figures
        } <= known


def test_each_step_of_the_fan_out_has_its_published_load():
    """Ten users by that step's script and by Little's law; no pause in the last script."""
    replayed = EXPERIMENTS["published-003"]
    under = {
        name: (load.users, load.pace_s, load.run_time_s, load.arrivals)
        for name in replayed.variants
        for load in replayed.loads_of(replayed.variant(name), RunOptions())
    }

    assert under["author_sqlite"] == (10, 1, 180, "checked")
    assert under["author_default"] == under["mysql_tuned-outbox-ring"] == (500, 1, 180, "checked")
    assert under["author_celery"] == (500, 0, 60, "checked")
    assert replayed.seed.graph == "star"


def test_browse_pauses_and_ramps_as_published():
    loads = loads_of("published-001")

    assert {name: load.users for name, load in loads.items()} == {
        "smoke": 1,
        "load": 100,
        "stress": 500,
    }
    for load in loads.values():
        assert (load.arrivals, load.pace_s, load.run_time_s) == ("paused", 4, 60)
        assert (load.options["ramp-s"], load.options["hold-s"]) == (30, 60)
    assert loads["stress"].offered_rps == 125


def test_everybody_signs_up_pauses_and_tries_again():
    loads = loads_of("published-000")

    assert list(loads)[-4:] == [
        f"signup-{it}" for it in ("10x10s", "100x10s", "100x60s", "100x300s")
    ]
    for name, load in loads.items():
        assert name.endswith(f"-{load.users}x{load.run_time_s}s")
        assert (load.arrivals, load.pace_s, load.counted_users) == ("paused", 1, load.users)
        assert len(load.classes) == len(load.counted) == 1


def test_hypotheses_differ_from_the_finding_in_one_setting():
    found = EXPERIMENTS["published-000"].variant("as_found")

    assert different("no_log", found) == {"LOG_REQUESTS"}
    assert different("pool30", found) == {"DB_POOL_SIZE"}
    assert different("log_collector", found) == set()


def different(name, other):
    """Return the settings in which two variants of the sign-up differ."""
    return {
        k
        for k, _ in set(EXPERIMENTS["published-000"].variant(name).settings.items())
        ^ set(other.settings.items())
    }


def test_a_class_signs_up_while_its_log_is_collected(tmp_path):
    small = ("--loads=signup-10x10s", "--users=3", "--run-time=2s", "--people=20")

    status, found = replay(tmp_path, "published-000", "--variants=log_collector", *small)

    (folder,) = tmp_path.glob("log_collector-*")
    collected = [
        json.loads(line) for line in (folder / "logs/collector.log").read_text().splitlines()
    ]
    created = [it for it in collected if it.get("path") == "/v1/signup/" and it["status"] == "201"]
    result = found["log_collector"]
    assert status == 0
    assert list(result["routes"]) == ["POST /v1/signup/"]
    assert 0 < result["requests"] <= len(created)
    assert result["audit"]["ok"]


def test_everybody_sends_one_request_per_minute_and_gives_up_after_30_s():
    replayed = EXPERIMENTS["published-004"]
    (load,) = replayed.loads(RunOptions())
    shared, split = map(replayed.variant, replayed.variants[:2])

    assert (load.users, load.pace_s, load.run_time_s) == (50, 60, 600)
    assert (shared.settings["DB_POOL_SIZE"], shared.settings["DB_POOL_TIMEOUT_S"]) == ("20", "30")
    assert (split.settings["DB_POOL_SIZE"], split.settings["EXPENSIVE_READS"]) == ("10", "10")


def test_exports_are_checked_in_a_small_replay(tmp_path, monkeypatch):
    monkeypatch.setattr(export_published, "POSTS_EACH", 20)
    small = ("--users=4", "--run-time=6s", "--people=6", "--friends=3")

    _, found = replay(tmp_path, "published-004", "--variants=sqlite-direct", *small)

    result = found["sqlite-direct"]  # with no export among its few requests it fails
    assert result["requests"] > 0
    assert (result["failures"], result["audit"]["incomplete"]) == (0, 0)
    assert result["balance"]["pace_s"] == 3


def test_one_endpoint_at_a_time_gets_1_20_and_50_requests_within_a_second():
    loads = loads_of("published-002")

    pages = ("times", "visits", "summary")
    assert list(loads) == [f"{page}-{rate}" for page in pages for rate in (1, 20, 50)]
    for load in loads.values():
        assert (load.arrivals, load.offered_rps, load.run_time_s) == ("open", load.users, 1)


def test_a_volley_on_the_published_tables_is_answered_and_audited(tmp_path):
    small = ("--loads=visits-7", "--users=7", "--people=20")

    status, found = replay(tmp_path, "published-002", "--variants=sqlite-tags_indexed", *small)

    result = found["sqlite-tags_indexed"]
    assert status == 0
    assert list(result["routes"]) == ["GET /v1/activity/visits/"]
    assert (result["requests"], result["failures"]) == (7, 0)  # each once, all within the second
    assert result["balance"]["begun_rps"] == 7
    assert result["extra"]["all_mean_ms"] > 0
    assert result["audit"]["ok"]


@pytest.mark.parametrize(("threshold_ms", "status"), [(0.001, 1), (1e9, 0)])
def test_a_run_that_breaks_the_threshold_fails(threshold_ms, status, tmp_path, monkeypatch):
    monkeypatch.setattr(Published001, "threshold_p99_ms", threshold_ms)
    # Longer than everybody's pause of 4 s: else it is by chance that one is answered in it.
    small = ("--loads=smoke", "--users=4", "--run-time=10s", "--people=20")

    found = replay(tmp_path, "published-001", "--variants=sqlite-counter", *small)

    assert found[0] == status
    errors = found[1]["sqlite-counter"]["errors"]
    assert any(error.startswith("threshold: p99 ") for error in errors) == bool(status)

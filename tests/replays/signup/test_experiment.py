"""The experiments of sign-up, small: with a log collector, and with a database that fails."""

import json

import pytest

from lab.experiments import EXPERIMENTS
from lab.experiments.base import RunOptions
from launch.variants import UnknownVariant
from tests.lab.runs import run

SIGNUP = EXPERIMENTS["signup"]


def test_a_class_signs_up_while_its_log_is_collected(tmp_path):
    small = ("--loads=signup-10x10s", "--users=3", "--run-time=2s", "--people=20")

    done = run(tmp_path, "published-000", "--variants=log_collector", *small)

    (log,) = tmp_path.glob("log_collector-*/logs/collector.log")
    collected = map(json.loads, log.read_text().splitlines())
    created = [
        line for line in collected if line.get("path") == "/v1/signup/" and line["status"] == "201"
    ]
    assert done.is_clean
    assert list(done.result["routes"]) == ["POST /v1/signup/"]
    assert 0 < done.result["requests"] <= len(created)
    assert done.result["audit"]["ok"]


def test_half_made_people_are_found_where_the_database_fails(tmp_path, monkeypatch):
    """It fails between the writes of every fifth sign-up."""
    monkeypatch.setenv("EXTRA_APPS", "tests.replays.signup.torn.Torn")
    small = ("--users=20", "--run-time=3s")

    done = run(tmp_path, "signup", "--variants=sqlite-pbkdf2_fast-three_commits", *small)

    audit, extra = done.result["audit"], done.result["extra"]
    assert done.status == 1
    assert done.result["failures"] > 0
    assert not audit["ok"]
    assert audit["half_made"] > 0
    assert audit["lost"] == 0
    assert f"FAILED: {audit['half_made']} half_made" in done.report
    assert (done.result["load"], done.result["offered_rps"]) == ("20x3s", 16)
    assert 0 < extra["signups_per_s"] < 20
    for figure in ("control_idle_p95_ms", "control_p95_ms", "taken_mean_ms"):
        assert extra[figure] > 0
    assert extra["turned_away"] == 0
    for route in ("POST /v1/signup/ (taken)", "POST /v1/posts/"):
        assert done.result["routes"][route]["failures"] == 0


@pytest.mark.parametrize(
    "name",
    ["sqlite", "sqlite-md5", "sqlite_per_server-argon2", "sqlite-argon2-pool7", "x-argon2"],
)
def test_an_unknown_variant_is_refused(name):
    with pytest.raises(UnknownVariant, match=r"is unknown|is none of"):
        SIGNUP.variant(name)


def test_extras_can_be_combined():
    variant = SIGNUP.variant("mysql_tuned-pbkdf2-three_commits-pool12")

    assert variant.environment["PASSWORD_HASHER"] == "pbkdf2"
    assert variant.environment["SIGNUP_ATOMIC"] == "0"
    assert variant.environment["DB_POOL_SIZE"] == "12"


def test_the_published_loads_exist_and_one_of_them_is_the_default():
    loads = SIGNUP.loads(RunOptions())

    assert [load.name for load in loads] == ["10x10s", "100x10s", "100x60s"]
    assert [load.name for load in loads if not load.optional] == ["100x10s"]

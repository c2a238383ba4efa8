"""The experiment signup, on a database that fails between the writes of every fifth sign-up."""

import json
import os
import subprocess
import sys
from unittest.mock import ANY

import pytest

from lab.experiments import EXPERIMENTS
from lab.running.options import RunOptions
from launch.variants import UnknownVariant

ATOMIC, TORN = "sqlite-pbkdf2_fast", "sqlite-pbkdf2_fast-three_commits"
PLANTED = {"EXTRA_APPS": "tests.replays.signup.torn.Torn"}
SIGNUP = EXPERIMENTS["signup"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    done = subprocess.run(
        [
            *(
                sys.executable,
                "-m",
                "lab",
                "run",
                "signup",
                "--shared",
                f"--variants={ATOMIC},{TORN}",
            ),
            *("--users=20", "--run-time=3s", f"--out={out}"),
        ],
        env=os.environ | PLANTED,
        capture_output=True,
        text=True,
        timeout=600,
    )
    found = [json.loads(path.read_text()) for path in out.glob("*/result.json")]
    return done, (out / "report.md").read_text(), {it["variant"]: it for it in found}


def test_the_check_finds_half_made_people(run):
    done, report, found = run

    audit = found[TORN]["audit"]
    assert done.returncode == 1
    assert not audit["ok"]
    assert audit["half_made"] > 0
    assert audit["lost"] == 0
    assert f"FAILED: {audit['half_made']} half_made" in report


def test_one_transaction_leaves_nothing_of_a_failed_sign_up(run):
    result = run[2][ATOMIC]

    assert result["failures"] > 0
    assert result["audit"] == {"people": ANY, "half_made": 0, "lost": 0, "ok": True}
    assert result["audit"]["people"] > SIGNUP.seed.people + result["failures"]


def test_a_result_has_the_figures_of_the_controls(run):
    result = run[2][ATOMIC]

    assert result["load"] == "20x3s"
    assert result["offered_rps"] == 16
    assert 0 < result["extra"]["signups_per_s"] < 20
    assert 0 < result["extra"]["control_idle_p95_ms"]
    assert 0 < result["extra"]["control_p95_ms"]
    assert 0 < result["extra"]["taken_mean_ms"]
    assert result["extra"]["turned_away"] == 0
    assert result["routes"]["POST /v1/signup/ (taken)"]["failures"] == 0
    assert result["routes"]["POST /v1/posts/"]["failures"] == 0


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

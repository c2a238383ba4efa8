"""Faults planted into real runs, which the laboratory must notice."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SMALL = ["--shared", "--users=20", "--people=100", "--friends=20", "--run-time=2s"]
PLANTED = {"DJANGO_SETTINGS_MODULE": "tests.lab.planted.settings"}
BUSY = {"PYTHONPATH": str(Path("tests/lab/planted/busy").resolve())}


def command(out, *arguments):
    return [sys.executable, "-m", "lab", "run", "fanout", *SMALL, f"--out={out}", *arguments]


def laboratory(out, *arguments, environment=None):
    """Run the laboratory; return its exit status, the results by variant, and the report."""
    done = subprocess.run(
        command(out, *arguments),
        env=os.environ | (environment or {}),
        capture_output=True,
        text=True,
        timeout=600,
    )
    return done.returncode, results(out), (out / "report.md").read_text()


def results(out):
    found = [json.loads(path.read_text()) for path in out.glob("*/result.json")]
    return {result["variant"]: result for result in found}


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """One run of a store that loses posts and one that delivers twice."""
    variants = "--variants=sqlite-outbox-setbased,sqlite-outbox-ring"
    return laboratory(tmp_path_factory.mktemp("out"), variants, environment=PLANTED)


def test_a_store_that_loses_posts_fails_whatever_its_speed(planted):
    status, found, report = planted

    audit = found["sqlite-outbox-setbased"]["audit"]
    assert status == 1
    assert 0.02 < audit["missing"] / audit["expected"] < 0.2
    assert (audit["duplicated"], audit["unexpected"]) == (0, 0)
    assert "FAILED: " in report
    assert "No variant that delivers finished with a clean audit" in report


def test_a_store_that_delivers_twice_fails(planted):
    status, found, report = planted

    audit = found["sqlite-outbox-ring"]["audit"]
    assert status == 1
    assert audit["duplicated"] == audit["expected"] > 0
    assert audit["missing"] == 0
    assert "FAILED: 100.0% duplicated" in report


def test_a_saturated_generator_makes_no_ranking(tmp_path):
    _, found, report = laboratory(tmp_path, "--variants=sqlite-pull", environment=BUSY)

    assert found["sqlite-pull"]["generator_saturated"]
    assert "Not ranked: Locust itself was the limit of sqlite-pull" in report


def test_a_failing_variant_does_not_affect_the_others(tmp_path):
    """The middle one gets no Redis: what is called so ends at once."""
    broken = tmp_path / "bin" / "redis-server"
    broken.parent.mkdir()
    broken.write_text("#!/bin/sh\necho no such thing; exit 1\n")
    broken.chmod(0o755)
    status, found, report = laboratory(
        tmp_path,
        "--variants=sqlite-inline-setbased,sqlite-inline-ring,sqlite-pull",
        environment={"PATH": f"{broken.parent}:{os.environ['PATH']}", "LAB_REDIS": "redis"},
    )

    assert status == 1
    assert [found[name]["audit"] is not None for name in sorted(found)] == [False, True, True]
    assert "sqlite-inline-ring, run 1: redis ended (1): no such thing" in report
    assert "DID NOT FINISH" in report


def test_a_run_stopped_by_ctrl_c_keeps_its_measurements(tmp_path):
    variants = "--variants=sqlite-inline-setbased,sqlite-outbox-setbased"
    laboratory = subprocess.Popen(command(tmp_path, variants), stderr=subprocess.DEVNULL)
    give_up_at = time.monotonic() + 120
    second = tmp_path / "sqlite-outbox-setbased-1" / "requests.csv"
    while not second.exists():
        assert time.monotonic() < give_up_at
        time.sleep(0.1)

    laboratory.send_signal(signal.SIGINT)
    laboratory.wait(timeout=60)

    found = results(tmp_path)
    assert laboratory.returncode == 130
    assert found["sqlite-inline-setbased"]["audit"]["ok"]
    assert found["sqlite-outbox-setbased"]["errors"] == ["interrupted"]
    assert "interrupted" in (tmp_path / "report.html").read_text()


def test_a_drain_that_takes_too_long_is_stopped_and_reported(tmp_path):
    """The published way delivers slower than these people post."""
    status, found, report = laboratory(
        tmp_path,
        "--variants=mysql_tuned-task-roundtrip",
        "--people=600",
        "--friends=500",
        "--users=100",
        "--drain-within=1s",
    )

    result = found["mysql_tuned-task-roundtrip"]
    assert status == 1
    assert result["errors"][0].startswith("not drained within 1 s: ")
    assert result["audit"]["missing"] > 0
    assert (result["audit"]["duplicated"], result["audit"]["unexpected"]) == (0, 0)
    assert "posts left" in report

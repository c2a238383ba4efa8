"""The experiment activity on a small log, and on a service with wrong answers."""

import json
import os
import subprocess
import sys

SMALL = ["--people=20", "--users=10", "--run-time=3s"]
PLANTED = {"EXTRA_APPS": "tests.replays.activity.planted.Planted"}
PAGES = ("times", "visits", "summary")


def laboratory(out, variants, environment=()):
    command = [sys.executable, "-m", "lab", "run", "activity", "--shared", f"--variants={variants}"]
    done = subprocess.run(
        [*command, *SMALL, f"--out={out}"],
        env=os.environ | dict(environment),
        capture_output=True,
        text=True,
        timeout=600,
    )
    found = [json.loads(path.read_text()) for path in out.glob("*/result.json")]
    return done.returncode, {result["variant"]: result for result in found}


def test_a_run_measures_each_endpoint_and_audits_the_answers(tmp_path):
    status, found = laboratory(tmp_path, "sqlite-best")

    assert status == 0
    result = found["sqlite-best"]
    assert result["routes"].keys() == {f"GET /v1/activity/{page}/" for page in PAGES}
    assert (result["requests"], result["failures"]) == (30, 0)  # all that were due
    assert result["audit"]["ok"]
    assert result["audit"]["compared"] > 20
    assert (
        "| published: fix 1, 20 within 1 s, each page alone |"
        in (tmp_path / "report.md").read_text()
    )


def test_a_variant_that_answers_wrongly_fails(tmp_path):
    status, found = laboratory(tmp_path, "sqlite-indexed", PLANTED)

    assert status == 1
    assert found["sqlite-indexed"]["audit"]["wrong_answers"] > 0
    assert "wrong_answers" in (tmp_path / "report.md").read_text()

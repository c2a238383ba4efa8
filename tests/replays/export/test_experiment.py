"""The experiment export, small: its check passes, and its control fails."""

import json
import os
import subprocess
import sys

LABORATORY = (sys.executable, "-m", "lab", "run", "export", "--shared")
SMALL = ("--users=3", "--people=6", "--friends=2", "--run-time=6s")
CUT_SHORT = {"EXTRA_APPS": "tests.replays.export.cut_short.CutShort"}


def export(out, variants, environment=None):
    """Run the experiment; return its exit status and the results by variant."""
    done = subprocess.run(
        [*LABORATORY, *SMALL, f"--variants={variants}", f"--out={out}"],
        env=os.environ | (environment or {}),
        capture_output=True,
        text=True,
        timeout=600,
    )
    found = [json.loads(path.read_text()) for path in out.glob("*/result.json")]
    return done.returncode, {result["variant"]: result for result in found}


def test_exports_are_complete_for_every_variant(tmp_path):
    status, results = export(tmp_path, "sqlite-direct,mysql_tuned-background")

    assert status == 0
    for result in results.values():
        assert result["audit"].pop("exports") > 0
        assert result["audit"] == {
            "incomplete": 0,
            "different": 0,
            "broken_promises": 0,
            "ok": True,
        }
        assert 0 < result["extra"]["ordinary_mean_ms"]
        assert 0 < result["extra"]["expensive_mean_ms"]
    asked = results["mysql_tuned-background"]["routes"]
    assert asked["FEED export from order to file"]["requests"] > 0
    assert "GET /v1/me/export/" not in asked


def test_a_truncated_export_is_found(tmp_path):
    status, results = export(tmp_path, "sqlite-direct", CUT_SHORT)

    audit = results["sqlite-direct"]["audit"]
    assert status == 1
    assert not audit["ok"]
    assert audit["incomplete"] == audit["exports"] > 0

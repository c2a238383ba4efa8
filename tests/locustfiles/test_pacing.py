"""Closed users act on their own schedules, unless an answer takes too long."""

import json
import subprocess
import sys

import pytest

MODULE = "tests.locustfiles.waits"


def test_a_late_action_is_made_up_for_unless_a_whole_turn_is_missed():
    out = subprocess.check_output([sys.executable, "-m", MODULE], text=True)

    found = json.loads(out)
    due, pace_s = found["begun"], found["pace_s"]
    assert 0 <= due - found["started"] < pace_s + 0.1
    for asked_at, wait_s in found["turns"]:
        due = max(due + pace_s, asked_at)
        assert wait_s == pytest.approx(due - asked_at, abs=0.1)

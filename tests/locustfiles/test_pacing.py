"""When closed users act: on their own schedules, unless an answer took longer than those allow."""

import json
import subprocess
import sys

import pytest

MODULE = "tests.locustfiles.waits"


def test_what_is_late_is_made_up_for_unless_a_whole_turn_is_missed():
    out = subprocess.check_output([sys.executable, "-m", MODULE], text=True)

    found, pace_s = json.loads(out), 0.4
    assert 0 <= found["phase_s"] < pace_s + 0.1
    assert found["waits_s"] == pytest.approx([pace_s / 2, pace_s / 2, 0, pace_s], abs=0.1)

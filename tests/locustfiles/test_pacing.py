"""Closed users act on their own schedules, unless an answer takes too long."""

import json
import subprocess
import sys

import pytest

WAITS = """
import json
from types import SimpleNamespace

from locustfiles import arrivals

now = 100.0

def pass_time(seconds):
    global now
    now += seconds

arrivals.time = SimpleNamespace(time=lambda: now)
arrivals.gevent = SimpleNamespace(sleep=pass_time)
user, waits = arrivals.Closed(SimpleNamespace(), 1.0), []
user.begin()
phase = now - 100
for answer_takes_s in (0.5, 1, 3, 0):
    pass_time(answer_takes_s)
    waits.append(user.wait_s())
    pass_time(waits[-1])
print(json.dumps([phase, waits]))
"""
"""A process of its own, since importing Locust patches it; its clock stands still."""


def test_a_late_action_is_made_up_for_unless_a_whole_turn_is_missed():
    phase, waits = json.loads(subprocess.check_output([sys.executable, "-c", WAITS], text=True))

    assert 0 <= phase < 1
    assert waits == pytest.approx([0.5, 0, 0, 1])

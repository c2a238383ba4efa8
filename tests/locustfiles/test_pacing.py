"""When closed users act: on their own schedules, unless an answer took longer than those allow."""

import time
from types import SimpleNamespace

import pytest

from locustfiles.arrivals import Closed

PACE_S = 0.2


@pytest.fixture
def user():
    """Has acted once."""
    arrivals = Closed(SimpleNamespace(), PACE_S)
    arrivals.begin()
    return arrivals


def test_what_is_late_by_less_than_the_pace_is_made_up_for(user):
    time.sleep(PACE_S / 2)
    assert user.wait_s() == pytest.approx(PACE_S / 2, abs=0.05)
    time.sleep(PACE_S)
    assert user.wait_s() == pytest.approx(PACE_S / 2, abs=0.05)


def test_who_is_late_by_more_goes_on_at_once_and_makes_up_for_nothing(user):
    time.sleep(3 * PACE_S)
    assert user.wait_s() == 0
    assert user.wait_s() == pytest.approx(PACE_S, abs=0.05)


def test_users_begin_anywhere_within_the_pace():
    started = time.monotonic()
    phases = []
    for _ in range(8):
        Closed(SimpleNamespace(), PACE_S).begin()
        phases.append(time.monotonic() - started)
        started = time.monotonic()

    assert max(phases) < PACE_S + 0.05
    assert max(phases) - min(phases) > PACE_S / 10

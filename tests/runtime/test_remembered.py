"""Values that are trusted for a while."""

import pytest

from runtime.remembered import Pause, Remembered, forget_all


@pytest.fixture
def clock(monkeypatch):
    """The time, which a test sets."""
    times = [100.0]
    monkeypatch.setattr("runtime.remembered.monotonic", lambda: times[-1])
    return times


class Asking:
    """Counts how often it is asked; each takes ``takes_s``."""

    def __init__(self, clock, takes_s=0.0, meanwhile=lambda: None):
        self.clock, self.takes_s, self.meanwhile, self.asked = clock, takes_s, meanwhile, 0

    def __call__(self):
        self.asked += 1
        asked = self.asked
        self.clock.append(self.clock[-1] + self.takes_s)
        self.meanwhile()
        return asked


def test_a_value_is_trusted_from_when_it_was_asked_for(clock):
    known = Remembered(Asking(clock, takes_s=0.25), for_s=1)
    assert known.get() == 1

    clock.append(100.99)
    assert (known.get(), known.fresh()) == (1, 1)
    clock.append(101.0)
    assert (known.fresh(), known.last(), known.get()) == (None, 1, 2)


def test_a_value_that_took_long_is_trusted_for_longer(clock):
    known = Remembered(Asking(clock, takes_s=2), for_s=1, times=10)
    known.get()

    clock.append(121.9)
    assert known.get() == 1
    clock.append(122.0)
    assert known.get() == 2


def test_others_go_on_with_the_value_before_while_one_asks(clock):
    asking = Asking(clock, meanwhile=lambda: found.append(known.last() and known.get()))
    known, found = Remembered(asking, for_s=1, times=10), []
    known.get()
    clock.append(200.0)

    assert known.get() == 2
    assert found == [None, 1]


def test_what_is_forgotten_while_it_is_asked_for_is_asked_for_again(clock):
    asking = Asking(clock, meanwhile=lambda: known.forget())
    known = Remembered(asking, for_s=60)

    assert [known.get(), known.get()] == [1, 2]


def test_an_error_is_not_remembered(clock):
    answers = iter([0, 1])
    known = Remembered(lambda: 1 // next(answers), for_s=60)
    with pytest.raises(ZeroDivisionError):
        known.get()

    assert known.get() == 1


def test_a_process_can_forget_all_it_knows(clock):
    known, pause = Remembered(Asking(clock), for_s=60), Pause()
    known.get()
    pause.begin(60)
    assert not pause.is_over()

    forget_all()

    assert pause.is_over()
    assert known.get() == 2

"""Questions to servers: who asks, and how long callers wait."""

import os
import threading
import time

import pytest

from runtime.question import Question


class Asking:
    """Counts how often it is asked, and by which threads; each takes ``takes_s``."""

    def __init__(self, takes_s=0.0):
        self.takes_s, self.threads, self.fails = takes_s, [], False

    def __call__(self):
        self.threads.append(threading.get_ident())
        time.sleep(self.takes_s)
        if self.fails:
            raise ConnectionError
        return len(self.threads)


@pytest.fixture
def question():
    asked = []

    def create(ask):
        asked.append(Question(ask))
        return asked[-1]

    yield create
    for each in asked:
        each.forget()


def test_one_thread_asks_every_time(question):
    asking = Asking()
    asked = question(asking)

    assert [asked.ask()(5) for _ in range(3)] == [1, 2, 3]
    assert len(set(asking.threads)) == 1 != threading.get_ident()


def test_who_asks_meanwhile_gets_the_same_answer(question):
    asked = question(Asking(takes_s=0.2))
    answers = [asked.ask() for _ in range(5)]

    assert {answer(5) for answer in answers} == {1}


def test_an_error_is_not_remembered(question):
    asking = Asking()
    asked = question(asking)
    asking.fails = True
    with pytest.raises(ConnectionError):
        asked.ask()(5)

    asking.fails = False

    assert asked.ask()(5) == 2


def test_nobody_waits_longer_than_the_limit_from_when_it_was_asked(question):
    """Else each probe of a server that doesn't answer would hold its caller for as long."""
    asked = question(Asking(takes_s=5))
    began = time.monotonic()
    for _ in range(20):
        with pytest.raises(TimeoutError):
            asked.ask()(0.2)

    assert 0.2 <= time.monotonic() - began < 20 * 0.2


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # it has threads
def test_a_forked_process_asks_by_itself(question):
    asked = question(Asking())
    asked.ask()(5)

    child = os.fork()
    if child == 0:
        try:
            os._exit(asked.ask()(5))
        finally:
            os._exit(99)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2

"""Limits and leases, which all processes share."""

import time
from threading import Barrier

import pytest

from accounts import limits
from accounts.limits import Limited, Use
from accounts.models import Limit
from tests.parallel import in_parallel

FEW = {"burst": 3, "per_s": 0.1}


def is_taken():
    try:
        limits.take("guesses", **FEW)
    except Limited:
        return False
    return True


@pytest.fixture
def at(monkeypatch):
    """Set the clock."""

    def set_clock(seconds):
        monkeypatch.setattr(time, "time", lambda: 1_000_000 + seconds)

    set_clock(0)
    return set_clock


def test_a_burst_is_allowed_and_then_one_per_interval(db, at):
    assert [is_taken() for _ in range(5)] == [True, True, True, False, False]
    at(4)
    with pytest.raises(Limited) as refusal:
        limits.take("guesses", **FEW)
    assert refusal.value.retry_after_s == 6
    at(10)
    assert [is_taken(), is_taken()] == [True, False]
    at(1000)
    assert [is_taken() for _ in range(5)] == [True, True, True, False, False]


def test_keys_are_counted_apart_however_long_they_are(db, at):
    [is_taken() for _ in range(3)]

    for key in ("other guesses", "x" * 1000 + "a", "x" * 1000 + "b"):
        limits.take(key, burst=1, per_s=1)


def test_of_several_limits_all_are_counted_or_none_and_can_be_given_back(db, at):
    both = [Use("guesses", **FEW), Use("others", burst=1, per_s=0.1)]

    limits.take_all(both)
    for attempt in (limits.check_all, limits.take_all):
        with pytest.raises(Limited):
            attempt(both)
    assert [is_taken() for _ in range(3)] == [True, True, False]
    limits.give_back_all(both)

    limits.take_all(both)
    assert not is_taken()


@pytest.mark.parametrize("off", [{"burst": 0, "per_s": 1}, {"burst": 1, "per_s": 0}])
def test_zero_is_no_limit(db, off, django_assert_num_queries):
    with django_assert_num_queries(0):
        for _ in range(9):
            limits.take("guesses", **off)
        limits.give_back_all([Use("guesses", **off)])


def test_a_refusal_writes_nothing(db, at, django_assert_num_queries):
    [is_taken() for _ in range(3)]

    with django_assert_num_queries(1):
        assert not is_taken()


@pytest.mark.parametrize("used", [0, 1])
def test_of_40_in_parallel_exactly_the_burst_is_allowed(transactional_db, used):
    """Whether the key has a row yet or not."""
    assert all(is_taken() for _ in range(used))

    assert in_parallel(40 * [is_taken]).count(True) == 3 - used


def hold(meanwhile=lambda: None, for_s=5):
    """Hold a lease; return whether that was possible."""
    try:
        with limits.lease("export", for_s=for_s):
            meanwhile()
    except Limited:
        return False
    return True


def test_of_those_who_want_a_lease_in_parallel_one_gets_it(transactional_db):
    all_have_tried = Barrier(8)

    def try_to_hold():
        is_held = hold(lambda: all_have_tried.wait(30), for_s=60)
        if not is_held:
            all_have_tried.wait(30)
        return is_held

    assert in_parallel(8 * [try_to_hold]).count(True) == 1


def test_a_lease_is_free_after_the_block_and_after_its_time(db, at):
    found = []

    def try_again():
        found.append(hold())
        at(5)
        found.append(hold(end_the_first))

    def end_the_first():
        first.close()  # too late: it releases nothing
        found.append(hold())

    def leased():
        with limits.lease("export", for_s=5):
            yield

    first = leased()
    next(first)
    try_again()

    assert found == [False, False, True]
    assert hold()


def test_a_lease_is_soon_free_after_the_clock_was_put_back(db, at):
    def put_back():
        at(0)
        assert not hold()
        at(1)
        assert hold()

    at(3600)
    assert hold(put_back)


def test_rows_that_mean_nothing_any_more_are_removed(db, at):
    limits.take("guesses", **FEW)
    at(30)
    limits.take("others", **FEW)
    at(80)

    limits.remove_expired()

    assert [limit.key for limit in Limit.objects.all()] == ["others"]

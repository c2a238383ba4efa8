"""The published capacity calculator, with its published example."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.__main__ import main
from lab.load_calculator import virtual_users


@given(st.floats(0.1, 10_000), st.integers(1, 100), st.floats(0.1, 1_000))
def test_the_virtual_users_make_the_load_and_one_fewer_does_not(rps, requests, iteration_s):
    users = virtual_users(rps, requests, iteration_s)

    assert users * requests / iteration_s >= rps * (1 - 1e-6)
    assert (users - 1) * requests / iteration_s <= rps * (1 + 1e-6)


def test_the_command_converts_the_published_example_both_ways(capsys):
    there = ["plan", "--daily-users=6000", "--requests-each=50", "--peak-factor=8.889"]

    assert main([*there, "--iteration-requests=12", "--iteration-s=12"]) == 0
    assert main(["plan", "--rps=30.9", "--requests-each=50", "--peak-factor=8.889"]) == 0

    told = capsys.readouterr().out
    assert "3.47 requests/s on average, 30.9 at the peak: 31 virtual users" in told
    assert "6,006 daily users" in told


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--rps=0"],
        ["--rps=nan"],
        ["--rps=1", "--peak-factor=-1"],
        ["--rps=1", "--daily-users=1"],
    ],
)
def test_an_impossible_plan_is_refused(options):
    with pytest.raises(SystemExit):
        main(["plan", *options])

"""The replays of published documents: their loads and steps are those that were published."""

import pytest

from lab.__main__ import main
from lab.experiments import EXPERIMENTS
from lab.experiments.base import RunOptions

REPLAYS = {name: experiment for name, experiment in EXPERIMENTS.items() if experiment.document}


def test_every_replay_names_its_document(capsys):
    main(["list", "--all"])

    listed = capsys.readouterr().out
    for name, experiment in REPLAYS.items():
        assert f"{name}: {experiment.document}" in listed


def test_published_figures_are_shown_in_columns_that_the_table_has():
    for experiment in EXPERIMENTS.values():
        known = {column.label for column in experiment.presentation.columns}
        for published in experiment.presentation.published:
            assert published.figures.keys() <= known


LOADS = {
    "published-000": {
        *(("control-10x10s", 10, 1, 10), ("control-100x10s", 100, 1, 10)),
        *(("taken-100x10s", 100, 1, 10), ("taken-100x30s", 100, 1, 30)),
        *(("signup-10x10s", 10, 1, 10), ("signup-100x10s", 100, 1, 10)),
        *(("signup-100x60s", 100, 1, 60), ("signup-100x300s", 100, 1, 300)),
    },
    "published-001": {("smoke", 1, 4, 60), ("load", 100, 4, 60), ("stress", 500, 4, 60)},
    "published-002": {
        (f"{page}-{rate}", rate, 1, 1)
        for page in ("times", "visits", "summary")
        for rate in (1, 20, 50)
    },
    "published-003": {
        ("10users-3m", 10, 1, 180),
        ("500users-3m", 500, 1, 180),
        ("500users-nopause-1m", 500, 0, 60),
    },
    "published-004": {("", 50, 60, 600)},
}
"""Name, users, seconds between the requests of a user, and seconds in all."""
ARRIVALS = dict(zip(LOADS, ("paused", "paused", "open", "checked", "closed"), strict=True))


@pytest.mark.parametrize("name", REPLAYS)
def test_loads_are_as_published(name):
    loads = EXPERIMENTS[name].loads(RunOptions())

    assert {(load.name, load.users, load.pace_s, load.run_time_s) for load in loads} == LOADS[name]
    assert {load.arrivals for load in loads} == {ARRIVALS[name]}


@pytest.mark.parametrize(
    ("variant", "load"),
    [
        ("author_sqlite", "10users-3m"),  # by that step's script and by Little's law
        ("author_default", "500users-3m"),
        ("mysql_tuned-outbox-ring", "500users-3m"),
        ("author_celery", "500users-nopause-1m"),
    ],
)
def test_each_step_of_the_fan_out_has_its_published_load(variant, load):
    replay = EXPERIMENTS["published-003"]

    loads = replay.loads_of(replay.variant(variant), RunOptions())

    assert [each.name for each in loads] == [load]


@pytest.mark.parametrize(
    ("step", "changed"),
    [("no_log", {"LOG_REQUESTS"}), ("pool30", {"DB_POOL_SIZE"}), ("log_collector", set())],
)
def test_hypotheses_differ_from_the_finding_in_one_setting(step, changed):
    found, tried = (
        EXPERIMENTS["published-000"].variant(name).settings for name in ("as_found", step)
    )

    assert {setting for setting, _ in found.items() ^ tried.items()} == changed


def test_two_pools_have_the_connections_of_one():
    replay = EXPERIMENTS["published-004"]
    shared, split = (replay.variant(name).settings for name in replay.variants[:2])

    assert (shared["DB_POOL_SIZE"], shared["DB_POOL_TIMEOUT_S"]) == ("20", "30")
    assert (split["DB_POOL_SIZE"], split["EXPENSIVE_READS"]) == ("10", "10")

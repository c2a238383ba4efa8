"""The experiments of browse on small runs of real servers, and the findings of their check."""

import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.results.requests import Request
from launch import quota
from launch.processes import Processes
from launch.variants import UnknownVariant
from replays.browse import published
from replays.browse.experiment import EXPERIMENT, Probe, audit
from replays.browse.ramp import users_at
from replays.replication import Sight
from tests.lab.runs import run


def test_a_run_that_breaks_the_threshold_fails_though_everyone_reads_their_own_writes(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(published, "THRESHOLD_P99_MS", 0.001)
    # So many that there are requests within seconds, though everybody pauses for 4 s.
    small = ("--loads=smoke", "--users=30", "--run-time=3s", "--people=40")

    done = run(tmp_path, "published-001", "--variants=sqlite-counter", *small)

    (error,) = done.result["errors"]
    assert done.status == 1
    assert error.startswith("threshold: p99 ")
    assert done.result["audit"]["ok"]
    assert done.result["audit"]["looks"] > 0
    assert "GET /v1/posts/?sort=-likes" in done.result["routes"]
    assert done.result["cpu_s"]["web"] > 0
    limitations = done.result["environment"]["limitations"]
    unlimited = any("no app server was held to 0.4 cores" in each for each in limitations)
    assert unlimited == ("no app server was held to 0.4 cores" in done.report)
    assert unlimited != can_be_limited(tmp_path)


def can_be_limited(folder):
    with Processes(folder) as processes:
        idle = processes.start("web", ["sleep", "60"], {})
        return quota.limit(processes, idle.pid, 0.4)


@pytest.mark.parametrize(("slowest_ms", "errors"), [(40, 0), (60, 1)])
def test_a_whole_run_is_held_to_the_threshold_failed_requests_too(slowest_ms, errors, monkeypatch):
    monkeypatch.setattr(published.browse, "conclude", lambda measured: None)
    requests = [
        Request("GET", 0.0, 0.03, error=""),
        Request("GET", 0.0, slowest_ms / 1000, error="status 503"),
        Request("GET", 0.0, 0.01, error="the run ended", answered=False),
    ]
    result = SimpleNamespace(extra={}, errors=[])

    published.conclude(SimpleNamespace(result=result, requests=SimpleNamespace(counted=requests)))

    assert len(result.errors) == errors
    assert result.extra["held"] == 1 - errors
    assert result.extra["run_success"] == 0.5  # of those that were answered
    assert 30 < result.extra["run_p95_ms"] <= slowest_ms


@pytest.mark.parametrize("database", ["mysql_tuned", "postgres_tuned"])
def test_late_replicas_without_read_your_own_writes_make_the_check_fail(tmp_path, database):
    small = ("--loads=smoke", "--users=5", "--run-time=3s", "--people=20")

    done = run(tmp_path, "browse", f"--variants={database}-2servers-1replica-blind", *small)

    result = done.result
    assert done.status == 1
    assert result["audit"]["own_write_missed"] > 0
    assert (result["audit"]["stale"], result["audit"]["ok"]) == (0, False)
    lag = result["extra"]
    assert 0 < lag["replica_lag_p50_ms"] <= lag["replica_lag_max_ms"]
    assert lag["replica_lag_max_ms"] > 500  # of the 2 s; nothing lags between writes
    assert "and 1 read replicas" in result["environment"]["servers"]["database"]
    assert result["memory_mib"]["proxy"] > 0
    assert "own_write_missed" in done.report


@given(st.floats(0, 200), st.integers(1, 500), st.floats(0, 60), st.floats(1, 60))
def test_the_shape_ramps_up_holds_and_ramps_down(second, peak, ramp_s, hold_s):
    users = users_at(second, peak, ramp_s, hold_s)

    assert (users is None) == (second >= 2 * ramp_s + hold_s)
    if ramp_s <= second < ramp_s + hold_s - 1:
        assert users == peak
    assert users is None or 1 <= users <= peak


WRITTEN = 100.0
SIGHTS = [
    Sight("one", 99.0, 99.1),
    Sight("one", 100.1, 100.2),
    Sight("two", 100.3, 101.0),
    Sight("two", 101.1, 101.2),
]


def look(what="delete", own=False, read_at=WRITTEN, seen=False):
    return Probe(what, own, WRITTEN, read_at, seen)


@pytest.mark.parametrize(
    ("read_at", "sights", "stale"),
    [
        (100.5, SIGHTS, 0),
        (101.0, SIGHTS, 0),  # now both have it
        (101.01, SIGHTS, 1),
        (999.0, [*SIGHTS[:2], Sight("two", 99.0, 99.1)], 0),  # "two" never caught up
        (WRITTEN, [], 0),
        (WRITTEN + 0.001, [], 1),  # without replicas at once
    ],
)
def test_a_deleted_post_is_stale_once_all_replicas_have_the_deletion(read_at, sights, stale):
    found = audit([look(read_at=read_at)], sights, 0)

    assert (found["stale"], found["ok"]) == (stale, not stale)


@pytest.mark.parametrize(
    ("probes", "miscounted", "finding"),
    [([look("like", own=True)], 0, "own_write_missed"), ([look(seen=True)], 1, "miscounted")],
)
def test_the_check_finds_planted_faults(probes, miscounted, finding):
    found = audit(probes, [], miscounted)

    assert (found[finding], found["ok"]) == (1, False)


@pytest.mark.parametrize(
    "name", ["", "sqlite-4replicas", "mysql_tuned-counter-5servers", "mysql_tuned-counter-paper"]
)
def test_an_unknown_name_is_refused(name):
    with pytest.raises(UnknownVariant, match="is named sqlite"):
        EXPERIMENT.variant(name)


def test_the_published_servers_and_replicas_can_be_chosen():
    variant = EXPERIMENT.variant("mysql_tuned-5servers-4replicas")

    assert (variant.database.app_servers, variant.replicas) == (5, 4)
    assert variant.environment["FEED_LISTING"] == "aggregate"


def test_a_quota_holds_or_is_reported_missing(tmp_path):
    spin = [sys.executable, "-c", "while True: pass"]
    with Processes(tmp_path) as processes:
        process = processes.start("web", spin, {})
        held = quota.limit(processes, process.pid, 0.2)
        groups = set(re.findall(r"/(lab-.*)", Path(f"/proc/{process.pid}/cgroup").read_text()))
        assert bool(groups) == held
    assert not [group for group in groups if list(quota.ROOT.glob(f"**/{group}"))]


def test_a_machine_without_control_groups_sets_no_quota(tmp_path):
    with Processes(tmp_path / "logs") as processes:
        assert not quota.limit(processes, os.getpid(), 0.2, root=tmp_path)
        assert not quota.limit(processes, os.getpid(), 0.2, root=tmp_path / "none")
    assert [path.name for path in tmp_path.iterdir()] == ["logs"]

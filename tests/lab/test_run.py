"""The laboratory as a whole, on small runs of the real service, some with planted faults."""

import json
import signal
import subprocess
import sys

import psutil
import pytest

from tests.commands import python
from tests.lab.planted import PLANTED
from tests.sessions import wait_until

SMALL = ["--shared", "--users=20", "--people=100", "--friends=20", "--run-time=2s"]
FIELDS = (
    "experiment variant repeat started_at environment offered_rps load window_s achieved_rps "
    "requests failures latency_ms latency_quantiles_ms by_second deliveries deliveries_per_s "
    "lag_ms waiting undelivered due backlog drain_s routes extra audit cpu_s "
    "cpu_s_per_million_deliveries memory_mib steal screen_ms watched shown generator_saturated "
    "errors balance"
).split()
GOOD, NULL, HALVES = "sqlite-outbox-setbased", "sqlite-null", "sqlite_per_server-inline-bulk"
PULLED = "mysql_tuned-outbox-ring@cluster1+pulls30"


def command(out, variants, *more):
    return ["-m", "lab", "run", "fanout", *SMALL, f"--variants={variants}", f"--out={out}", *more]


def laboratory(out, variants, *more, **environment):
    """Run the laboratory; return how it ended, the results by variant, and the report."""
    done = python(*command(out, variants, *more), **environment)
    return done, results(out), (out / "report.md").read_text()


def results(out):
    found = [json.loads(path.read_text()) for path in out.glob("*/result.json")]
    return {result["variant"]: result for result in found}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A good variant whose celebrity is pulled, a lossy one, and one that never delivers.

    Two generators share the users.
    """
    variants = ",".join((PULLED, HALVES, NULL))
    more = ("--generators=2", "--largest=50")
    return laboratory(tmp_path_factory.mktemp("out"), variants, *more)


def test_a_run_as_expected_exits_with_0(run):
    done, results, report = run

    assert done.returncode == 0, done.stderr
    assert len(results) == 3
    assert PULLED in done.stdout
    assert PULLED in report


def test_a_result_has_the_fields_of_the_design_and_figures_that_fit_together(run):
    result = run[1][PULLED]

    assert list(result) == FIELDS
    assert 12 <= result["achieved_rps"] <= 28  # 20 offered; a user who waited catches up
    assert result["requests"] == pytest.approx(2 * result["achieved_rps"], abs=1)
    assert (result["failures"], result["errors"]) == (0, [])
    assert result["audit"]["ok"]
    assert result["audit"]["posts"] >= result["requests"]
    assert result["audit"]["expected"] > result["audit"]["posts"]
    seconds, answers, p99s = zip(*result["by_second"], strict=True)
    assert seconds == tuple(range(result["window_s"]))
    assert sum(answers) == result["requests"]
    assert max(filter(None, p99s)) <= result["latency_ms"]["max"]
    assert 0 < result["lag_ms"]["p50"] <= result["lag_ms"]["p99"]
    assert 0 < result["latency_ms"]["p50"] <= result["latency_ms"]["max"]
    assert result["cpu_s"]["web"] > 0
    assert result["cpu_s"]["workers"] > 0
    assert result["backlog"][-1][1] == 0
    assert (result["undelivered"], result["waiting"], result["audit"]["lacked"]) == (0, 0, 0)
    assert result["due"] >= result["deliveries"]
    assert result["watched"] > 0
    assert result["shown"] == 1
    assert 0 < result["screen_ms"]["p50"] <= result["screen_ms"]["max"]


def test_private_servers_are_started_and_accounted_for(run):
    result = run[1][PULLED]

    assert result["audit"]["ok"]
    assert result["audit"]["merged"] > 0
    assert result["extra"].get("deliveries_max", 0) < 50  # not those of person 1, who is pulled
    assert result["environment"]["servers"].keys() >= {"database", "redis"}
    assert "Cluster, 1 primaries" in result["environment"]["servers"]["nodes"]
    assert len(result["environment"]["durability_given_away"]) == 2
    assert result["cpu_s"]["database"] > 0
    assert result["cpu_s"]["redis"] > 0
    assert result["memory_mib"]["database"] > 50
    assert result["memory_mib"]["redis"] > 1


def test_two_servers_with_a_file_each_miss_about_half(run):
    """The audit's negative control: each of the two saw half of the posts."""
    audit = run[1][HALVES]["audit"]

    assert not audit["ok"]
    assert audit["missing"] / audit["expected"] == pytest.approx(0.5, abs=0.1)
    assert (audit["duplicated"], audit["unexpected"]) == (0, 0)


def test_a_variant_that_never_delivers_misses_everything(run):
    result = run[1][NULL]

    assert result["audit"]["missing"] == result["audit"]["expected"] > 0
    assert result["deliveries"] == 0
    assert result["drain_s"] is None
    assert result["undelivered"] == result["audit"]["posts"]
    assert result["shown"] < 1


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A store that loses posts, one that fails, and one that delivers twice."""
    variants = f"{GOOD},sqlite-inline-packed,sqlite-outbox-ring"
    return laboratory(tmp_path_factory.mktemp("out"), variants, **PLANTED)


def test_a_store_that_loses_posts_fails_whatever_its_speed(planted):
    done, results, report = planted

    audit = results[GOOD]["audit"]
    assert done.returncode == 1
    assert 0.02 < audit["missing"] / audit["expected"] < 0.2
    assert (audit["duplicated"], audit["unexpected"]) == (0, 0)
    assert "FAILED: " in report
    assert "No variant that delivers finished with a clean audit" in report


def test_a_store_that_delivers_twice_fails_though_the_variant_before_it_did_not_start(planted):
    _, results, report = planted

    audit = results["sqlite-outbox-ring"]["audit"]
    assert results["sqlite-inline-packed"]["audit"] is None
    assert "no such thing" in report
    assert "DID NOT FINISH" in report
    assert audit["duplicated"] == audit["expected"] > 0
    assert audit["missing"] == 0
    assert "FAILED: 100.0% duplicated" in report


def test_a_dropped_delivery_is_seen_by_a_watched_reader_though_the_store_has_trimmed_it(tmp_path):
    """At the end the database answers for it, so the audit sees nothing."""
    variant, more = "sqlite-outbox-log", ("--users=50", "--friends=50", "--run-time=6s")

    done, found, report = laboratory(tmp_path, variant, *more, **PLANTED)

    assert done.returncode == 1
    assert found[variant]["audit"]["missing"] == 0
    assert found[variant]["shown"] == 1
    assert found[variant]["audit"]["lacked"] > 0
    assert "lacked" in report


def test_a_run_stopped_by_ctrl_c_keeps_its_measurements_and_leaves_no_process(tmp_path):
    command_line = [sys.executable, *command(tmp_path, GOOD)]
    running = subprocess.Popen(command_line, stderr=subprocess.DEVNULL)
    wait_until((tmp_path / f"{GOOD}-1/requests.csv").exists, within_s=240)
    children = psutil.Process(running.pid).children(recursive=True)
    assert len(children) >= 5  # app servers, drainer, locust

    running.send_signal(signal.SIGINT)
    running.wait(timeout=120)

    assert running.returncode == 130
    assert psutil.wait_procs(children, timeout=20)[1] == []
    assert results(tmp_path)[GOOD]["errors"] == ["interrupted"]
    assert "interrupted" in (tmp_path / "report.html").read_text()

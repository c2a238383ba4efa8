"""The laboratory as a whole, on small runs of the real service."""

import json
import subprocess
import sys

import pytest

SMALL = ["--shared", "--users=20", "--people=100", "--friends=20", "--run-time=2s"]
FIELDS = (
    "experiment variant repeat started_at environment offered_rps load window_s achieved_rps "
    "requests failures latency_ms latency_quantiles_ms by_second deliveries deliveries_per_s "
    "lag_ms backlog drain_s routes extra audit cpu_s cpu_s_per_million_deliveries memory_mib "
    "generator_saturated errors balance"
).split()


def laboratory(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "lab", *arguments], capture_output=True, text=True, timeout=600
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """One run of a good variant, a lossy one and one that never delivers."""
    out = tmp_path_factory.mktemp("out")
    variants = (
        "sqlite-outbox-setbased,mysql_tuned-outbox-ring,sqlite_per_server-inline-bulk,sqlite-null"
    )
    done = laboratory("run", "fanout", f"--variants={variants}", *SMALL, f"--out={out}")
    results = {
        path.parent.name.removesuffix("-1"): json.loads(path.read_text())
        for path in out.glob("*/result.json")
    }
    return done, out, results


def test_a_run_as_expected_exits_with_0(run):
    done, out, results = run

    assert done.returncode == 0, done.stderr
    assert len(results) == 4
    assert (out / "report.md").exists()
    assert "sqlite-outbox-setbased" in done.stdout


def test_a_result_has_the_fields_of_the_design_and_figures_that_fit_together(run):
    result = run[2]["sqlite-outbox-setbased"]

    assert list(result) == FIELDS
    assert 12 <= result["achieved_rps"] <= 28  # 20 offered; a user who waited catches up
    assert result["requests"] == pytest.approx(2 * result["achieved_rps"], abs=1)
    assert (result["failures"], result["errors"]) == (0, [])
    assert result["audit"]["ok"]
    assert result["audit"]["expected"] == result["audit"]["posts"] * 21
    seconds, answers, p99s = zip(*result["by_second"], strict=True)
    assert seconds == tuple(range(result["window_s"]))
    assert sum(answers) == result["requests"]
    assert max(filter(None, p99s)) <= result["latency_ms"]["max"]
    assert result["deliveries"] % 21 == 0
    assert 0 < result["lag_ms"]["p50"] <= result["lag_ms"]["p99"] < 2000
    assert 0 < result["latency_ms"]["p50"] <= result["latency_ms"]["max"]
    assert result["cpu_s"]["web"] > 0
    assert result["cpu_s"]["workers"] > 0
    assert result["backlog"][-1][1] == 0


def test_private_servers_are_started_and_accounted_for(run):
    result = run[2]["mysql_tuned-outbox-ring"]

    assert result["audit"]["ok"]
    assert set(result["environment"]["servers"]) == {"database", "redis"}
    assert len(result["environment"]["durability_given_away"]) == 2
    assert result["cpu_s"]["database"] > 0
    assert result["cpu_s"]["redis"] >= 0  # a few ms are less than a tick
    assert result["memory_mib"]["database"] > 50
    assert result["memory_mib"]["redis"] > 1


def test_two_servers_with_a_file_each_miss_about_half(run):
    """The audit's negative control: each of the two saw half of the posts."""
    audit = run[2]["sqlite_per_server-inline-bulk"]["audit"]

    assert not audit["ok"]
    assert audit["missing"] / audit["expected"] == pytest.approx(0.5, abs=0.01)
    assert (audit["duplicated"], audit["unexpected"]) == (0, 0)


def test_a_variant_that_never_delivers_misses_everything(run):
    result = run[2]["sqlite-null"]

    assert result["audit"]["missing"] == result["audit"]["expected"] > 0
    assert result["deliveries"] == 0
    assert result["drain_s"] is None


def test_a_variant_that_cannot_start_is_reported_and_the_next_one_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("GUNICORN_CMD_ARGS", "--no-such-option")

    done = laboratory(
        "run", "fanout", "--variants=sqlite-pull,sqlite-null", *SMALL, f"--out={tmp_path}"
    )

    assert done.returncode == 1
    assert "--no-such-option" in " ".join(done.stderr.split())
    results = [json.loads(path.read_text()) for path in tmp_path.glob("*/result.json")]
    assert [it["audit"] for it in results] == [None, None]


def test_generators_share_the_users_and_a_celebrity_is_pulled_from_a_cluster(tmp_path):
    name = "mysql_tuned-outbox-ring@cluster1+pulls30"
    more = ("--generators=2", "--largest=50", f"--out={tmp_path}")

    done = laboratory("run", "fanout", f"--variants={name}", *SMALL, *more)

    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = tmp_path.glob("*/result.json")
    result = json.loads(path.read_text())
    assert result["audit"]["ok"]
    assert result["audit"]["merged"] > 0
    assert 12 <= result["achieved_rps"] <= 28
    assert result["audit"]["posts"] >= result["requests"]
    assert result["cpu_s"]["redis"] > 0
    assert "Cluster, 1 primaries" in json.dumps(result["environment"])
    assert result["extra"]["deliveries_max"] < 50  # not those of person 1, who is pulled

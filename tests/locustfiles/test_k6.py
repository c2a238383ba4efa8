"""k6 with fanout.k6.js creates the same load as Locust with fanout.py. Run it with make test-k6."""

import json
import os
import shutil
import socket
import sqlite3
import subprocess
from collections import Counter
from contextlib import closing
from types import SimpleNamespace

import pytest

from tests.locustfiles.load import Run

pytestmark = [pytest.mark.alone, pytest.mark.k6]

LIMIT_BROKEN = 99
USERS = 50
SECONDS = 10


@pytest.fixture
def k6(service, tmp_path):
    """Run k6 against the service; return its exit code, its output and its own summary."""
    binary = shutil.which(os.environ.get("K6", "k6")) or shutil.which("var/bin/k6")
    assert binary, "k6 is not installed: make k6"

    def run(**options):
        summary = tmp_path / "summary.json"
        options = {"HOST": service.url, "TOKENS": service.tokens} | options
        done = subprocess.run(
            [
                *(binary, "run", "--quiet", "--no-usage-report", f"--summary-export={summary}"),
                *(f"--env={name}={value}" for name, value in options.items()),
                "locustfiles/fanout.k6.js",
            ],
            capture_output=True,
            text=True,
            timeout=120,
        )
        output = done.stdout + done.stderr
        assert summary.exists(), output
        metrics = json.loads(summary.read_text())["metrics"]
        return SimpleNamespace(exit_code=done.returncode, output=output, **metrics)

    return run


@pytest.fixture
def posts_of(service):
    """Count the posts in the database by author."""

    def count():
        with closing(sqlite3.connect(service.folder / "feed-0.sqlite3")) as database:
            return Counter(
                dict(database.execute("SELECT author_id, count(*) FROM feed_post GROUP BY 1"))
            )

    return count


def posts_per_s(by_locust):
    """Answers per second in the whole seconds of the run: its clock also counts Locust's start."""
    ended_at = sorted(float(row["timestamp"]) for row in by_locust.rows("requests.csv"))
    window_s = int(ended_at[-1] - ended_at[0])
    return sum(it < ended_at[0] + window_s for it in ended_at) / window_s


@pytest.mark.parametrize("arrivals", ["closed", "open"])
def test_k6_and_locust_agree(arrivals, k6, service, tmp_path, posts_of):
    before = posts_of()
    by_k6 = k6(USERS=USERS, RUN_TIME=f"{SECONDS}s", ARRIVALS=arrivals)
    written = posts_of() - before
    options = (f"--users={USERS}", "--spawn-rate=1000", f"--arrivals={arrivals}")
    by_locust = Run(service, tmp_path, *options, "--visible-share=0", seconds=SECONDS)

    assert by_k6.exit_code == by_locust.exit_code == 0, by_k6.output + by_locust.output
    assert by_k6.checks == {"passes": written.total(), "fails": 0, "value": 1}
    assert len(written) == USERS
    assert max(written.values()) <= SECONDS + 1
    times_ms = [float(row["response_time_ms"]) for row in by_locust.rows("requests.csv")]
    mean_ms = sum(times_ms) / len(times_ms)
    assert by_k6.http_reqs["rate"] == pytest.approx(posts_per_s(by_locust), rel=0.05)
    assert mean_ms / 4 < by_k6.http_req_duration["avg"] < mean_ms * 4


def test_a_pause_begins_with_the_answer(k6):
    done = k6(USERS=10, RUN_TIME="4s", ARRIVALS="paused", PACE_S=0.5)

    mean_ms = done.http_req_duration["avg"] + 500
    assert done.iteration_duration["min"] >= 500
    assert done.iteration_duration["avg"] == pytest.approx(mean_ms, rel=0.1)
    assert done.http_reqs["count"] == pytest.approx(10 * 4000 / mean_ms, abs=10)


def test_in_a_star_person_1_posts(k6, posts_of):
    before = posts_of()

    done = k6(USERS=10, RUN_TIME="2s", GRAPH="star")

    assert posts_of() - before == {1: done.checks["passes"]}


def test_a_broken_limit_sets_the_exit_code(k6):
    kept = k6(USERS=10, RUN_TIME="2s", FAIL_P99_MS=60000, FAIL_RATIO=0)
    broken = k6(USERS=10, RUN_TIME="2s", FAIL_P99_MS=0.001)

    assert kept.exit_code == 0, kept.output
    assert broken.exit_code == LIMIT_BROKEN
    assert "'http_req_duration'" in broken.output


@pytest.mark.parametrize(("ratio", "exit_code"), [(0.4, LIMIT_BROKEN), (0.6, 0)])
def test_the_share_of_failures_is_limited(ratio, exit_code, k6, service, tmp_path):
    header, *rows = service.tokens.read_text().split()
    tokens = tmp_path / "tokens.csv"
    tokens.write_text("\n".join([header, *(f"{row}{'x' * (n % 2)}" for n, row in enumerate(rows))]))

    done = k6(USERS=10, RUN_TIME="2s", TOKENS=tokens, FAIL_RATIO=ratio)

    assert done.exit_code == exit_code, done.output
    assert done.checks["value"] == pytest.approx(0.5)


def test_requests_to_a_silent_service_are_bounded_and_break_limits(k6):
    """k6 waits half a minute for the last answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=100) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        done = k6(HOST=url, USERS=2, RUN_TIME="6s", ARRIVALS="open", FAIL_RATIO=0.1)

    assert done.exit_code == LIMIT_BROKEN
    assert 3 <= done.dropped_iterations["count"] <= 5  # of 12, where 8 may be unanswered
    assert "'dropped_iterations, http_reqs'" in done.output

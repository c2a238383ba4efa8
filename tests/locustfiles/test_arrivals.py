"""Closed and open arrivals, with a service that stalls for a while."""

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import psutil
import pytest

from launch.processes import frozen
from tests.locustfiles.load import Run

STANDS_STILL_S = 5.0
FEW_IN_FLIGHT = """
from locustfiles import arrivals
arrivals.MOST_IN_FLIGHT = 2
from locustfiles.fanout import Poster
"""

SLOW = """
import time
from locustfiles.fanout import Poster
time.sleep(0.01)  # a turn of gevent's loop
until = time.monotonic() + 4
while time.monotonic() < until:
    pass
"""


@pytest.fixture
def stalled(service, tmp_path):
    """Run Locust in each way; once all users have posted, the app servers stop for a while.

    Return the sorted latencies of each run.
    """

    def stall(files):
        while not all(file.exists() and len(file.read_text().splitlines()) >= 30 for file in files):
            time.sleep(0.05)
        parents = [psutil.Process(pid) for pid in service.processes.pids("web")]
        with frozen([p.pid for parent in parents for p in (parent, *parent.children())]):
            time.sleep(STANDS_STILL_S)

    def run(arrivals):
        folder = tmp_path / arrivals
        folder.mkdir()
        done = Run(service, folder, f"--arrivals={arrivals}", "--visible-share=0", seconds=10)
        assert done.exit_code == 0, done.output
        return sorted(float(row["response_time_ms"]) for row in done.rows("requests.csv"))

    def start(*ways):
        files = [tmp_path / arrivals / "accepted.csv" for arrivals in ways]
        threading.Thread(target=stall, args=[files], daemon=True).start()
        with ThreadPoolExecutor() as pool:
            return list(pool.map(run, ways))

    return start


@pytest.mark.alone
def test_open_arrivals_continue_and_latency_counts_from_the_due_time(stalled):
    closed, opened = stalled("closed", "open")

    assert len(opened) > len(closed) + 15  # 20 users, who had to wait for 3 to 4 posts each
    assert opened[int(len(opened) * 0.99)] > 1000
    assert sum(ms > 500 for ms in opened) > sum(ms > 500 for ms in closed) + 15


def test_a_slow_start_takes_nothing_of_the_run_time(service, tmp_path):
    locustfile = tmp_path / "slow.py"
    locustfile.write_text(SLOW)

    done = Run(service, tmp_path, "--no-audit", file=locustfile, seconds=3)

    assert done.rows("requests.csv")


@pytest.fixture
def silent(service):
    """A service that accepts every connection and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=100) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        yield SimpleNamespace(url=url, tokens=service.tokens)


def test_actions_beyond_the_limit_in_flight_are_dropped_and_counted(silent, tmp_path):
    locustfile = tmp_path / "few.py"
    locustfile.write_text(FEW_IN_FLIGHT)

    done = Run(
        silent, tmp_path, "--arrivals=open", "--no-audit", "--users=5", file=locustfile, seconds=5
    )

    rows = done.rows("requests.csv")
    assert {row["exception"] for row in rows} == {"dropped: 2 unanswered"}
    assert {(row["request_type"], row["name"]) for row in rows} == {("POST", "/v1/posts/")}
    assert 5 <= len(rows) <= 25  # not one for each look at what is in flight

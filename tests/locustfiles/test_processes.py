"""Several Locust processes: each has its own people, and audits its accepted posts."""

import re
import subprocess
import sys

from launch.processes import free_port


def assert_shared_out(done, users):
    first, second = (
        {row["author"] for row in done.rows(f"accepted-{index}.csv")} for index in (0, 1)
    )
    assert len(first) == len(second) == users // 2
    assert not first & second
    assert not (done.folder / "accepted.csv").exists()


def test_processes_act_as_different_people(run):
    port = free_port()
    done = run("--processes=2", f"--master-bind-port={port}", f"--master-port={port}", seconds=4)

    assert done.exit_code == 0, done.output
    assert_shared_out(done, users=20)
    rows = [row for index in (0, 1) for row in done.rows(f"accepted-{index}.csv")]
    assert f"audit: {len(rows)} posts accepted" in done.output
    assert "audit: clean" in done.output
    assert done.rows("requests-0.csv")
    assert done.rows("requests-1.csv")


def test_a_master_checks_the_limits_for_its_workers(run, service, tmp_path):
    port = free_port()
    worker = [
        *(sys.executable, "-m", "locust", "-f", "locustfiles/fanout.py", "--worker"),
        *(f"--master-port={port}", f"--tokens={service.tokens}"),
        f"--accepted={tmp_path / 'accepted.csv'}",
    ]
    workers = [subprocess.Popen(worker, stderr=subprocess.DEVNULL) for _ in range(2)]
    try:
        done = run(
            *("--master", "--expect-workers=2", f"--master-bind-port={port}"),
            *("--fail-p99-ms=1", "--fail-lag-ms=60000"),
        )
    finally:
        for process in workers:
            process.terminate()
            process.wait(10)

    assert done.exit_code == 1
    assert done.broken == ["--fail-p99-ms"]
    assert_shared_out(done, users=20)
    assert re.search(r"audit: \d+ posts accepted", done.output)
    assert "audit: clean" in done.output

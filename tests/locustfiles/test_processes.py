"""Several Locust processes: each has its own people, and audits its accepted posts."""

from launch.processes import free_port


def test_workers_act_as_different_people_and_their_master_checks_the_limits(run):
    port = free_port()
    done = run(
        *("--processes=2", f"--master-bind-port={port}", f"--master-port={port}"),
        *("--fail-p99-ms=1", "--fail-lag-ms=60000"),
    )

    assert done.exit_code == 1, done.output
    assert done.broken == ["--fail-p99-ms"]
    first, second = (
        {row["author"] for row in done.rows(f"accepted-{index}.csv")} for index in (0, 1)
    )
    assert len(first) == len(second) == 10
    assert not first & second
    assert not (done.folder / "accepted.csv").exists()
    rows = [row for index in (0, 1) for row in done.rows(f"accepted-{index}.csv")]
    assert f"audit: {len(rows)} posts accepted" in done.output
    assert "audit: clean" in done.output
    assert done.rows("requests-0.csv")
    assert done.rows("requests-1.csv")

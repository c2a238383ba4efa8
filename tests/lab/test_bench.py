"""The bench, on small runs of real servers."""

import json
import os
import subprocess
import sys
from itertools import product
from types import SimpleNamespace

import pytest

from lab.__main__ import main
from lab.bench.floors import bench_mysql
from lab.bench.record import Record
from lab.bench.tables import beside
from launch.processes import Processes, RunFailed
from launch.servers import MySQL
from launch.variants import GRANIAN, GUNICORN, PROXIED
from tests.lab.test_traps import PLANTED

SMALL = ["--people=60", "--friends=10", "--batch=1,25"]
APP_SERVERS = [f"{server}{proxy}" for server in (GUNICORN, GRANIAN) for proxy in ("", PROXIED)]
KEYS = {
    *("store", "database", "kind", "people", "friends", "batch"),
    *("deliveries_per_s", "client_us", "server_us", "bytes_per_entry"),
}


def bench(out, *arguments, environment=None):
    command = [sys.executable, "-m", "lab", "bench", *SMALL, f"--out={out}", *arguments]
    return subprocess.run(
        command, env=os.environ | (environment or {}), capture_output=True, text=True, timeout=300
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of a store on each server."""
    out = tmp_path_factory.mktemp("bench")
    done = bench(out, "--stores=mysql_tuned-setbased,ring", "--json")
    return done, json.loads(done.stdout), out


@pytest.fixture
def rows(run):
    return run[1]


def of(rows, store):
    return [row for row in rows if row["store"] == store]


def test_a_run_exits_with_0_and_prints_nothing_but_rows(run):
    done, rows, _ = run

    assert done.returncode == 0, done.stderr
    assert all(row.keys() >= KEYS for row in rows)


@pytest.mark.parametrize("store", ["setbased", "ring"])
def test_every_cell_has_a_row(store, rows):
    cells = [(row["people"], row["friends"], row["batch"]) for row in of(rows, store)]

    assert cells == [(60, 10, batch) for batch in (1, 25)]
    assert all(row["deliveries_per_s"] > 100 for row in of(rows, store))


@pytest.mark.parametrize("store", ["setbased", "ring"])
def test_cpu_time_is_at_most_the_elapsed_time(store, rows):
    """The client has one thread, so its CPU time is at most the elapsed time."""
    for row in of(rows, store):
        passed_us = 1e6 / row["deliveries_per_s"]
        assert 0 < row["client_us"] <= passed_us * 1.1
        assert 0 < row["server_us"] <= passed_us * os.cpu_count()


def test_an_entry_takes_at_least_its_id(rows):
    (ring,) = {row["bytes_per_entry"] for row in of(rows, "ring")}
    (setbased,) = {row["bytes_per_entry"] for row in of(rows, "setbased")}

    assert 8 <= ring < 20
    assert 16 <= setbased < 200


def test_floors_and_alternatives_have_rows(rows):
    names = {row["store"] for row in rows if row["kind"] != "store"}

    assert names == {
        *("list", "chunked", "load data"),
        *("redis ping", "redis set", "redis append"),
    }
    assert all(row["deliveries_per_s"] > 100 for row in rows if row["kind"] != "store")
    assert all(row["batch"] is None for row in rows if row["kind"] == "floor")


def test_a_floor_that_cannot_be_measured_says_why(tmp_path):
    """The server lacks the table to copy."""
    with Processes(tmp_path / "logs") as processes:
        server = MySQL(processes, tmp_path / "mysql", "local", profile="tuned.cnf")
        server.start()
        site = SimpleNamespace(mysql=server, folder=tmp_path, processes=processes)
        record = Record(tmp_path, {})

        with pytest.raises(RunFailed, match="load data: "):
            bench_mysql(site, record, lambda doing: None)

    (row,) = record.rows
    assert row.keys() >= KEYS
    assert row["deliveries_per_s"] is None
    assert "feed_timeline_setbased" in row["not_measured"]
    assert f"load data, not measured: {row['not_measured']} |" in beside(record).as_markdown()


def test_the_data_is_saved_beside_tables_and_pictures(run):
    _, rows, out = run
    found = json.loads((out / "bench.json").read_text())
    markdown = (out / "bench.md").read_text()

    assert found["rows"] == rows
    assert {read["read"] for read in found["reads"]} == {"first page", "deep page", "hydrated"}
    assert all(read["reads_per_s"] > 10 for read in found["reads"])
    assert set(found["environment"]["servers"]) == {"sqlite", "mysql_tuned", "redis"}
    assert "| mysql_tuned-setbased |" in markdown
    for name in ("batch", "people", "friends"):
        assert (out / f"{name}.svg").read_text().startswith("<svg")
        assert f"({name}.svg)" in markdown


def test_a_post_and_a_feed_are_measured_on_every_app_server(run):
    _, _, out = run
    found = json.loads((out / "bench.json").read_text())["requests"]
    rows = {(row["request"], row["server"]): row for row in found}

    assert set(rows) == set(product(("POST /v1/posts/", "GET /v1/feed/"), APP_SERVERS))
    for (request, server), row in rows.items():
        assert row["web_us"] > 10
        assert ("proxy_us" in row) == server.endswith("+proxy")
        assert row.get("proxy_us", 11) > 10
        assert f"| {request} | {server} | {row['bytes']:,} |" in (out / "bench.md").read_text()
    feeds = [row for (request, _), row in rows.items() if "feed" in request]
    assert all(row["bytes"] > 20 * len('{"id":1}') for row in feeds)
    assert all(row["redis_us"] > 1 for row in feeds)


def test_a_store_that_loses_posts_is_named(tmp_path):
    done = bench(tmp_path, "--stores=sqlite-setbased", environment=PLANTED)
    found = json.loads((tmp_path / "bench.json").read_text())
    (failure,) = found["failures"]

    assert done.returncode == 1
    assert failure.startswith("sqlite-setbased: ")
    assert " 0 missing" not in failure
    assert " 0 duplicated, 0 unexpected" in failure
    assert "Failed:\nsqlite-setbased: " in done.stdout
    assert {row["server_us"] for row in found["rows"]} == {None}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--stores", "fast"], "'fast' is none of rowwise, "),
        (["--people", "0"], "of 1 or more"),
        (["--batch", "many"], "--batch"),
        (["--people", "5", "--friends", "5"], "fewer than --people"),
    ],
)
def test_bad_options_are_refused(options, said, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["bench", *options])

    assert ended.value.code == 2
    assert said in capsys.readouterr().err

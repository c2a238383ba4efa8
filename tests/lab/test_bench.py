"""The bench, on small runs of real servers."""

import io
import json
import os
from contextlib import redirect_stdout
from itertools import product

import pytest

from lab.__main__ import main
from lab.bench import requests
from lab.bench.record import Record
from lab.bench.site import Measurement
from lab.bench.targets import choose
from launch.variants import GRANIAN, GUNICORN, PROXIED, UnknownVariant
from tests.lab.test_report import ENVIRONMENT

SMALL = ["--people=60", "--friends=10", "--batch=1,25", "--seconds=0.05"]
APP_SERVERS = [f"{server}{proxy}" for server in (GUNICORN, GRANIAN) for proxy in ("", PROXIED)]
KEYS = {
    *("store", "database", "kind", "people", "friends", "batch"),
    *("deliveries_per_s", "client_us", "server_us", "bytes_per_entry"),
}
PLACE = {"people": 60, "friends": 10}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of a store on each server: its exit status, its rows as printed, and its folder."""
    out = tmp_path_factory.mktemp("bench")
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as printed:
        patch.setattr(requests, "ROUNDS", 2)
        patch.setattr(requests, "REQUESTS", 20)
        patch.setenv("FEED_BACKLOG_MAX_AGE_S", "0.001")  # posts of the stores are older
        stores = "--stores=mysql_tuned-setbased,postgres_tuned-setbased,ring"
        status = main(["bench", *SMALL, stores, f"--out={out}", "--json"])
    return status, json.loads(printed.getvalue()), out


def of(rows, store):
    return [row for row in rows if row["store"] == store]


def test_a_run_exits_with_0_and_prints_a_row_per_cell(run):
    status, rows, _ = run

    assert status == 0
    assert all(row.keys() >= KEYS for row in rows)
    for store in ("setbased", "ring"):
        cells = [(row["people"], row["friends"], row["batch"]) for row in of(rows, store)]
        servers = 2 if store == "setbased" else 1
        assert cells == [(60, 10, batch) for batch in (1, 25)] * servers


@pytest.mark.parametrize(("store", "least", "most"), [("setbased", 16, 200), ("ring", 8, 20)])
def test_a_row_has_cpu_time_within_the_elapsed_time_and_bytes_per_entry(store, least, most, run):
    """The client has one thread, so its CPU time is at most the elapsed time."""
    for row in of(run[1], store):
        passed_us = 1e6 / row["deliveries_per_s"]
        assert 0 < row["client_us"] <= passed_us * 1.1
        assert 0 < row["server_us"] <= passed_us * os.cpu_count()
        assert least <= row["bytes_per_entry"] < most


def test_the_data_is_saved_beside_tables_and_pictures(run):
    _, rows, out = run
    found = json.loads((out / "bench.json").read_text())
    markdown = (out / "bench.md").read_text()

    assert found["rows"] == rows
    assert [check["ok"] for check in found["checks"]] == [True] * 3
    assert {read["read"] for read in found["reads"]} == {"first page", "deep page", "hydrated"}
    assert all(read["reads_per_s"] > 0 for read in found["reads"])
    assert set(found["environment"]["servers"]) == {
        *("sqlite", "mysql_tuned", "postgres_tuned", "redis")
    }
    assert "| mysql_tuned-setbased |" in markdown
    assert "| postgres_tuned-setbased |" in markdown
    assert [picture.name for picture in out.glob("*.svg")] == ["batch.svg"]
    assert (out / "batch.svg").read_text().startswith("<svg")
    assert "(batch.svg)" in markdown


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


def test_a_store_that_loses_posts_is_named(tmp_path, capsys):
    """The bench of a store that loses posts emits such a check (tests/bench)."""
    (target,) = choose("sqlite-setbased")
    cell = PLACE | {"batch": 25, "deliveries": 275, "wall_s": 0.1, "client_s": 0.1}
    counts = {"missing": 7, "duplicated": 0, "unexpected": 0, "expected": 90}
    record = Record(tmp_path, ENVIRONMENT | {"command": "lab bench"})
    record.add(target, Measurement("cell", cell, {}), None)
    record.add(target, Measurement("check", PLACE | counts | {"ok": False}, {}), None)

    assert main(["report", str(tmp_path)]) == 1

    found = "sqlite-setbased: 7 missing, 0 duplicated, 0 unexpected of 90 at 60 people"
    assert f"Failed:\n{found}" in capsys.readouterr().out
    assert found in (tmp_path / "bench.md").read_text()


def test_a_store_in_redis_may_be_named_in_a_cluster():
    (cluster,) = choose("ring@cluster3")

    assert (cluster.label, cluster.roles) == ("ring@cluster3", ["node1", "node2", "node3"])
    with pytest.raises(UnknownVariant, match="did you mean setbased"):
        choose("setbased@cluster3")

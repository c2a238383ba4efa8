"""The model behind the advice, with planted costs and answers calculated by hand."""

import os
import re
from dataclasses import replace
from math import ceil, inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.__main__ import main
from lab.advise.answer import advise, amounts, sources, tables, verdict
from lab.advise.candidates import (
    Candidate,
    Measured,
    Server,
    Source,
    in_largest_cluster,
    measured,
    newest,
    served,
)
from lab.advise.cells import Cells, NotMeasured
from lab.advise.check import check
from lab.advise.model import crossover, most_readers_in, needs, rate_at, reads_to_push_for
from lab.advise.queues import queue_costs
from lab.advise.situation import Situation, degrees
from lab.bench.record import Record
from lab.bench.targets import Grid
from lab.experiments.mixed.costs import ROLES
from lab.results.result import Result
from tests.lab.test_report import CLEAN, ENVIRONMENT

NONE = dict.fromkeys(ROLES, 0.0)
HERE = Situation(
    people=10_000, followers=99, following=99, largest=5_000, posts_per_s=100, reads_per_post=10
)
RING_NAME = "mysql_tuned-outbox-ring"


def rows(*people, store="ring"):
    """Cells in which only the number of people matters; a batch of one costs ten times as much."""
    return [
        {
            "kind": "store",
            "store": store,
            "database": "none",
            "people": number,
            "friends": friends,
            "batch": batch,
            "deliveries_per_s": 1e6,
            "bytes_per_entry": 8.0,
            **dict.fromkeys(("client_us", "server_us"), us * (10 if batch == 1 else 1)),
        }
        for number, us in ((1_000, 0.1), (100_000, 1.0))
        for friends in (9, 500)
        for batch in (1, 10, 250)
        if number in (people or (1_000, 100_000))
    ]


PULL = Candidate(
    "mysql_tuned-pull",
    pulls=True,
    is_inline=False,
    uses_redis=False,
    post_us=NONE | {"web": 500.0},
    read_us=NONE | {"web": 600.0},
    base_cores={"workers": 0.0},
    friends=500,
    merged_us=NONE | {"database": 4.0},
)
RING = Candidate(
    RING_NAME,
    pulls=False,
    is_inline=False,
    uses_redis=True,
    post_us=NONE | {"web": 500.0, "workers": 50.0},
    read_us=NONE | {"web": 600.0, "redis": 100.0},
    base_cores={"workers": 0.01},
    friends=500,
    merged_us=NONE,
    cells=Cells("ring", rows()),
)


SOURCE = Source("results/x", "python -m lab bench --stores=log", 50.0)


def on_servers(granian_web):
    """Granian needs so many times gunicorn's CPU; a proxy takes a tenth of gunicorn's itself."""
    found = {"gunicorn": {"web": 1.0}, "granian": {"web": granian_web}}
    found |= {f"{name}+proxy": times | {"proxy": 0.1} for name, times in found.items()}
    return [Server(name, times, times) for name, times in found.items()]


def advice(situation=HERE, *candidates, calibration_ms=50.0, servers=None):
    every = [
        served(candidate, server)
        for candidate in candidates or (PULL, RING)
        for server in servers or on_servers(1)
    ]
    costs = Measured(every, SOURCE, [SOURCE], 3_506, [], frozenset())
    return advise(situation, costs, calibration_ms=calibration_ms)


def of_queue(variant, web_s):
    return Result(
        experiment="queues",
        variant=variant,
        repeat=1,
        started_at="",
        environment={},
        offered_rps=50.0,
        window_s=10,
        achieved_rps=50.0,
        cpu_s={"web": web_s, "workers": 0.5, "database": 0.0, "redis": 0.0, "broker": 0.0},
    )


def test_a_queue_costs_what_it_takes_beyond_a_drainer_on_the_same_database():
    runs = [
        of_queue("mysql_tuned-task-setbased@celery", 2.5),
        of_queue("mysql_tuned-outbox-setbased", 1.0),
        of_queue("mysql_tuned-task-setbased@huey", 1.5),
        of_queue("postgres_tuned-task-setbased@procrastinate", 2.5),  # beside nothing
    ]
    queues = queue_costs(runs)
    costs = Measured([PULL, RING], SOURCE, [SOURCE], None, [], frozenset(), queues, [SOURCE])
    found = advise(replace(HERE, posts_per_s=200), costs, calibration_ms=50.0)

    *_, table = tables(found)
    assert [row[:3] for row in table.rows] == [
        ["mysql_tuned-task-setbased@huey", "1", "0.2"],
        ["mysql_tuned-task-setbased@celery", "3", "0.6"],
    ]
    assert sources(found)[-1].startswith("queues: results/x")


def test_cores_are_those_calculated_by_hand():
    """A delivery in the middle of the grid (on log scales) costs √(0.1 · 1) µs on either side."""
    each_us = 0.1**0.5
    found = needs(RING, replace(HERE, posts_per_s=200))

    assert found.drainers == 1
    assert found.batch == 200 * 0.075
    assert found.cores["web"] == pytest.approx(200 * (500 + 10 * 600) / 1e6)
    assert found.cores["workers"] == pytest.approx(0.01 + 200 * (50 + 100 * each_us) / 1e6)
    assert found.cores["redis"] == pytest.approx(200 * (10 * 100 + 100 * each_us) / 1e6)
    assert found.lag_ms == pytest.approx(75 + 15 * 100 * 2 * each_us / 1000)
    pulled = needs(PULL, HERE)
    assert pulled.total == pytest.approx(100 * (500 + 10 * (600 + 99 * 4)) / 1e6)
    half = replace(HERE, active=0.5)
    assert half.recipients == 99 / 2
    assert needs(RING, half).cores["workers"] < needs(RING, HERE).cores["workers"]


@given(st.floats(0.1, 1e5), st.floats(0.1, 1e5), st.floats(0.01, 1))
def test_more_posts_never_need_fewer_cores(one, other, busy):
    few, many = (replace(HERE, posts_per_s=rate, busy=busy) for rate in sorted((one, other)))

    assert needs(RING, many).total >= needs(RING, few).total * (1 - 1e-9)


def test_the_crossover_is_where_both_need_the_same():
    at = crossover(needs(PULL, HERE), needs(RING, HERE), HERE)
    there = replace(HERE, reads_per_post=at)

    assert needs(PULL, there).total == pytest.approx(needs(RING, there).total)
    assert needs(PULL, replace(HERE, reads_per_post=at / 2)).total < needs(RING, HERE).total


def test_whom_to_pull_by_cost_and_by_lag():
    found = needs(RING, HERE)

    assert reads_to_push_for(found.delivery, PULL) == pytest.approx(found.delivery.us / 4)
    assert most_readers_in(1_000, found, found.delivery) == pytest.approx(
        925_000 / found.delivery.us
    )


def test_followers_are_delivered_to_and_the_followed_are_merged():
    more, others = replace(HERE, followers=198), replace(HERE, following=198)
    merged = HERE.reads_per_s * 99 * 4 / 1e6

    assert needs(RING, others) == needs(RING, HERE)
    assert needs(RING, more).total > needs(RING, HERE).total
    assert needs(PULL, more) == needs(PULL, HERE)
    assert needs(PULL, others).total == pytest.approx(needs(PULL, HERE).total + merged)


def test_a_full_role_has_a_rate():
    rate = rate_at(lambda at: needs(RING, at).cores["redis"], 1, HERE)

    full = needs(RING, replace(HERE, posts_per_s=rate))
    assert full.cores["redis"] == pytest.approx(1, rel=0.01)
    assert rate_at(lambda at: needs(RING, at).cores["database"], 1, HERE) == inf


def test_a_limit_at_batches_that_were_not_measured_has_no_rate():
    """100/s are batches dense enough for 1,000 people; at half of that a web core is full."""
    ring = replace(RING, cells=Cells("ring", rows(1_000)))
    there = replace(HERE, people=5_001, followers=499, following=499, reads_per_post=30)
    _, _, breaks, *_ = tables(advice(there, ring))

    limits = {row[0].partition(" (")[0]: row[1] for row in breaks.rows}
    assert limits == {"one Redis": "322", "one web core": "not measured"}


def test_what_cannot_matter_is_left_out():
    cached = replace(RING, read_us=NONE | {"web": 600.0})
    _, needed, breaks, pulled, *_ = tables(advice(HERE, PULL, cached))

    assert [row[0] for row in needed.rows if "cores" in row[0]] == ["cores, web", "cores, workers"]
    assert [row[0] for row in breaks.rows] == ["one web core (add processes)"]
    assert pulled.rows[-1][:2] == ["pull authors above (readers; lag)", "nobody"]


def test_a_cluster_is_as_large_as_memory_or_cores_need():
    """A delivery costs the primaries 1.5 times as much as one Redis, and 800 entries 6.4 kB."""
    ring = replace(RING, in_cluster=1.5)
    many = replace(HERE, people=10_000_000)
    busy = replace(HERE, posts_per_s=20_000.0)
    used = needs(ring, busy).cores["redis"]

    def primaries(*asked):
        (row,) = [row for row in amounts(advice(*asked)).rows if row[0].startswith("primaries")]
        return row[1]

    assert primaries(HERE, ring) == "1"
    assert primaries(many, ring) == f"{ceil(10_000_000 * 6_400 / 2**30 / 25)}"
    assert primaries(busy, ring) == f"{ceil(used * 1.5 / 0.5)}"
    assert primaries(HERE, RING) == "not measured"


def test_what_a_cluster_costs_comes_from_the_largest_that_was_measured():
    plain = rows()
    small = [row | {"server_us": 9.0} for row in rows(store="ring@cluster2")]
    large = [row | {"server_us": 1.25 * row["server_us"]} for row in rows(store="ring@cluster8")]

    assert in_largest_cluster(RING.cells, [*plain, *small, *large]) == pytest.approx(1.25)
    assert in_largest_cluster(RING.cells, plain) is None


def test_dense_cells_are_refused_for_sparse_graphs():
    with pytest.raises(NotMeasured, match=r"lab bench --people"):
        Cells("ring", rows(1_000)).delivery(1_000_000, 500, 250)


def test_beyond_the_measured_people_a_batch_as_sparse_stands_for_it():
    """250 posts to 500 are 1.25 per timeline at 100,000 people, and 0.00125 at 100 million."""
    cells = Cells("ring", [row | {"client_us": 100 / row["batch"]} for row in rows()])
    found = cells.delivery(100_000_000, 500, 250)

    assert found.projected == "projected from 100,000 people"
    assert found.us > cells.delivery(100_000, 500, 250).us
    assert found.us == cells.delivery(100_000, 500, 0.46 * 100_000 / 501).us


@pytest.mark.parametrize(("people", "friends"), [(500, 50), (10_000, 2), (10_000, 501.5)])
def test_the_bench_that_an_error_names_is_enough(people, friends):
    with pytest.raises(NotMeasured, match="run python -m lab bench --people=") as refused:
        RING.cells.delivery(people, friends, 10)

    options = dict(re.findall(r"--(people|friends)=([\d,]+)", str(refused.value)))
    named = {name: tuple(map(int, numbers.split(","))) for name, numbers in options.items()}
    graphs = Grid.checked(**named).graphs
    cells = [{"people": p, "friends": f, "batch": b} for p, f in graphs for b in (1, 10)]
    benched = Cells("ring", [rows()[0] | cell for cell in cells])
    assert benched.delivery(people, friends, 10).us > 0


def test_the_cheapest_within_the_budget_is_advised():
    assert verdict(advice()).startswith("Take mysql_tuned-outbox-ring")
    assert verdict(advice(replace(HERE, reads_per_post=0))).startswith("Take mysql_tuned-pull")
    hurried = verdict(advice(replace(HERE, lag_ms=50)))
    assert hurried.startswith("Take mysql_tuned-pull")
    assert "mysql_tuned-outbox-ring costs less, but its lag is 76 ms" in hurried


def test_a_budget_that_nothing_keeps_is_refused_with_one_that_is_kept():
    with pytest.raises(ValueError, match="allow 76, which mysql_tuned-outbox-ring keeps"):
        advice(replace(HERE, lag_ms=50), RING)
    assert advice(replace(HERE, lag_ms=76), RING).best


def test_a_tie_goes_to_the_one_with_fewer_parts_and_says_so():
    """The same deliveries without a Redis need a little more CPU, and a server less."""
    plain = replace(RING, variant="simple", uses_redis=False, read_us=RING.read_us | {"redis": 0.0})
    dear = replace(plain, post_us=RING.post_us | {"web": 2_000.0})
    dearer = replace(plain, post_us=RING.post_us | {"web": 5_000.0})

    tied = verdict(advice(HERE, RING, dear))
    assert tied.startswith("It is a tie: take the simpler one, simple (parts beside it, ")
    assert "drainers and Redis: 1, not 2)" in tied
    assert "below 10% apart" in tied
    assert verdict(advice(HERE, RING, dearer)).startswith("Take mysql_tuned-outbox-ring: ")


def test_a_server_that_saves_a_tenth_is_advised_and_the_plainest_of_a_tie():
    """Nearly all cores are the app server's here, so what that saves the whole saves."""
    saving, tied = (advice(servers=on_servers(granian_web)) for granian_web in (0.7, 0.95))

    assert saving.best.candidate.name == f"{RING_NAME}@granian"
    assert saving.best.cores["web"] == pytest.approx(0.7 * needs(RING, HERE).cores["web"])
    assert f"{RING_NAME} needs" in verdict(saving)
    assert f"take {RING_NAME}@granian+proxy" in verdict(saving)
    assert saving.pull.candidate.name == f"{PULL.name}@granian"
    assert not any("proxy" in row[0] for row in tables(saving)[0].rows)
    assert tied.best.candidate.name == RING_NAME
    assert "a tie (below 10%), so take the plainer one" in verdict(tied)
    assert f"take {RING_NAME}@proxy" in verdict(tied)


def test_a_proxy_is_added_to_what_the_app_server_needs():
    *_, proxied = on_servers(0.7)
    alone, found = needs(RING, HERE), needs(served(RING, proxied), HERE)

    assert found.cores["proxy"] == pytest.approx(0.1 * alone.cores["web"])
    assert found.total == pytest.approx(alone.total - 0.2 * alone.cores["web"])


def test_remarks_name_another_speed_of_the_machine_and_a_bench_without_servers():
    assert not advice().remarks
    assert "is 2.00 times slower now" in advice(calibration_ms=100.0).remarks[0]
    (remark,) = advice(servers=on_servers(1)[:1]).remarks
    assert "run python -m lab bench --stores=log with ring" in remark


def test_every_figure_of_the_tables_has_its_source():
    for table in tables(advice()):
        assert table.head[-1] == "from"
        assert all(row[-1] for row in table.rows)


def test_degrees_are_read_one_or_counted_per_line(tmp_path):
    path = tmp_path / "degrees.csv"
    path.write_text("10\n20,3\n\n0,6\n500,0\n")

    assert degrees(path) == (10, 7.0, 20)


@pytest.mark.parametrize("line", ["ten", "-1", "1,-1", "1,2,3", "1.5"])
def test_a_malformed_line_of_degrees_is_named(tmp_path, line):
    path = tmp_path / "degrees.csv"
    path.write_text(f"10\n{line}\n")

    with pytest.raises(ValueError, match="line 2"):
        degrees(path)


def run(variant, posts, reads, cpu_s):
    """A run of ten seconds of the experiment mixed with 1,000 people and 500 friends."""
    seed = {"graph": "ring", "people": 1_000, "friends": 500}
    return Result(
        experiment="mixed",
        variant=variant,
        repeat=1,
        started_at=f"{variant}-{posts}-{reads}",
        environment=ENVIRONMENT | {"seed": seed},
        offered_rps=(posts + reads) / 10,
        load=f"reads{reads / posts:g}",
        window_s=10,
        requests=posts + reads,
        audit=CLEAN,
        cpu_s=NONE | cpu_s,
        extra={"posts": float(posts), "reads": float(reads)},
    )


def runs(posts, reads, factor=1.0):
    """A post of ring costs 500 µs of web and 150 of the drainer, a read 600; pull merges."""
    used = {
        RING_NAME: {"web": 500 * posts + 600 * reads, "workers": 150 * posts},
        PULL.name: {"web": 500 * posts + 600 * reads, "database": 2_000 * reads},
    }
    return [
        run(name, posts, reads, {role: us * factor / 1e6 for role, us in by_role.items()})
        for name, by_role in used.items()
    ]


def measured_below(below):
    """A bench and results of mixed, below a folder."""
    record = Record(below / "bench", ENVIRONMENT)
    record.rows = rows()
    record.requests = [
        {"request": request, "server": server, "bytes": 3_506, "web_us": factor * us}
        for request, factor in (("POST /v1/posts/", 2), ("GET /v1/feed/", 1))
        for server, us in (("gunicorn", 500), ("granian", 300))
    ]
    record.write()
    for number, result in enumerate([*runs(2_000, 0), *runs(2_000, 2_000), *runs(1, 2_000)]):
        result.write(below / "mixed" / str(number))
    return below


@pytest.fixture
def folders(tmp_path):
    return measured_below(tmp_path / "results")


def test_deliveries_are_taken_out_of_posts_and_merging_out_of_reads(folders):
    ring, on_granian, pull, _ = measured(newest(folders)).candidates

    assert (ring.name, pull.name) == (RING_NAME, PULL.name)
    assert on_granian.name == f"{RING_NAME}@granian"
    assert on_granian.post_us == ring.post_us | {"web": 0.6 * ring.post_us["web"], "proxy": 0.0}
    assert ring.post_us["workers"] == pytest.approx(150 - 501 * 0.1, abs=0.2)
    assert ring.read_us["web"] == pytest.approx(600, abs=0.1)
    assert pull.merged_us["database"] == pytest.approx(2_000 / 500)
    assert pull.read_us["database"] == pytest.approx(0, abs=0.1)


def test_a_prediction_is_compared_with_runs_that_it_was_not_made_from(folders):
    known = measured(newest(folders))

    assert check(runs(1_000, 10_000), known)[1]
    assert not check(runs(1_000, 10_000, factor=1.4), known)[1]
    with pytest.raises(ValueError, match="no steady run"):
        check(runs(2_000, 2_000), known)


def test_runs_on_another_server_are_predicted_but_no_candidates(folders):
    on_granian = f"{RING_NAME}@granian"
    run(on_granian, 1_000, 10_000, {"web": 0.6 * 6.5, "workers": 0.15}).write(folders / "mixed/9")
    known = measured(newest(folders))
    used = {"web": 0.6 * (500 * 500 + 600 * 5_000) / 1e6, "workers": 0.075}
    table, holds = check([run(on_granian, 500, 5_000, used)], known)

    assert len(known.candidates) == 4
    assert holds
    assert table.rows[0][0].startswith(on_granian)


def test_a_bench_without_app_servers_is_read(folders):
    record = Record.read(folders / "bench")
    record.requests = []
    record.write()

    assert [known.name for known in measured(newest(folders)).candidates] == [RING_NAME, PULL.name]


def test_costs_are_from_all_results_of_the_newest_commit_but_those_to_check(tmp_path):
    Record(tmp_path / "bench", ENVIRONMENT).write()
    for number, (name, commit) in enumerate((("old", "1"), ("slow", "2"), ("new", "2"))):
        result = run("mysql_tuned-pull", 1, 1, {})
        result.environment = ENVIRONMENT | {"commit": commit}
        result.write(tmp_path / name / "run")
        os.utime(tmp_path / name, (number, number))

    assert {folder.name for folder in newest(tmp_path)} == {"bench", "slow", "new"}
    without = newest(tmp_path, without=tmp_path / "slow")
    assert {folder.name for folder in without} == {"bench", "new"}


def test_an_error_names_one_thing_to_do(folders, tmp_path):
    with pytest.raises(ValueError, match=r"lab bench .*; .* lab run mixed"):
        newest(tmp_path / "empty")
    with pytest.raises(ValueError, match="lab run mixed") as only_bench:
        newest(folders, without=folders / "mixed")
    assert "lab bench" not in str(only_bench.value)
    unknown = replace(RING, cells=Cells("ring", []))
    with pytest.raises(NotMeasured) as refused:
        advice(HERE, PULL, unknown, replace(unknown, variant="other"))
    assert str(refused.value).count("lab bench") == 1


ASKED = ["--people=10000", "--friends=99", "--posts-per-s=100"]


def test_the_command_writes_a_page_that_names_its_sources(folders, tmp_path, capsys):
    costs = f"--costs={folders / 'bench'},{folders / 'mixed'}"

    assert main(["advise", *ASKED, costs, f"--out={tmp_path / 'out'}", "--markdown"]) == 0

    markdown, page = capsys.readouterr().out, (tmp_path / "out" / "advice.html").read_text()
    assert "| mysql_tuned-pull@granian |" in markdown
    for text in (markdown, page):
        assert "Take mysql_tuned-outbox-ring" in text
        assert str(folders / "bench") in text
        assert str(folders / "mixed") in text
    assert page.count("<svg") == 2  # one for wide windows, one for phones


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--active=2"], "--active must be above 0"),
        (["--busy=1.1"], "--busy must be above 0"),
        (["--reads-per-post=-1"], "--reads-per-post"),
        (["--reads-per-post=nan"], "--reads-per-post"),
        (["--largest=50"], "--largest must be 99 or more"),
        (["--largest=10000"], "--people must be above 10,000"),
        (["--friends=0.5"], "people need 1 friend or more"),
        (["--followers=99"], "--people needs --friends, or --followers and --following"),
        (["--daily-users=5"], "not allowed with"),
        (["--degrees=none.csv"], "not allowed with"),
        (["--costs=nowhere"], "--costs needs one bench"),
        (["--lag-ms=nan"], "--lag-ms"),
        (["--people=1000000000", "--friends=2"], "not measured"),
    ],
)
def test_bad_input_is_refused_and_writes_nothing(folders, tmp_path, capsys, options, error):
    out = tmp_path / "out"
    known = f"--costs={folders / 'bench'},{folders / 'mixed'}"

    with pytest.raises(SystemExit):
        main(["advise", *ASKED, known, f"--out={out}", *options])

    assert error in capsys.readouterr().err
    assert not out.exists()

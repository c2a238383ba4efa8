"""Figures in the documents, computed again from the results that are committed."""

import json
import re
from pathlib import Path
from statistics import median

import pytest

from lab.reporting.formats import number

READING = Path("docs/reading-a-report.md")
STORY = Path("replays/author/lesson.md")
CLUSTER = Path("docs/beyond-one-machine.md")
FAULTS = Path("docs/faults.md")
ROUNDTRIP = "mysql_tuned-task-roundtrip"


def results(experiment, variant="*"):
    found = sorted(Path("docs/example", experiment).glob(f"{variant}-[0-9]/result.json"))
    assert found
    return [json.loads(it.read_text()) for it in found]


def said(page):
    return " ".join(page.read_text().split())


def left(result):
    """Return how many posts had no receipt when the laboratory stopped waiting."""
    (error,) = [it for it in result["errors"] if it.startswith("not drained")]
    return int(re.search(r"([\d,]+) posts left", error)[1].replace(",", ""))


def test_how_many_posts_of_the_published_fix_were_undelivered():
    shares = sorted(left(it) / it["audit"]["posts"] for it in results("fanout", ROUNDTRIP))

    assert f"{shares[0] * 100:.0f} to {shares[-1]:.0%}".replace("%", " %") in said(READING)


@pytest.mark.parametrize(
    ("variant", "text"),
    [
        ("inline-rowwise", "A million deliveries cost {} CPU s,"),
        ("inline-setbased", "then {} ("),
        ("outbox_celery-ring", "costs more CPU**: {} s"),
        ("outbox-ring", "per million deliveries instead of {};"),
    ],
)
def test_what_a_million_deliveries_cost(variant, text):
    runs = results("fanout", f"mysql_tuned-{variant}")
    cpu_s = median(it["cpu_s_per_million_deliveries"] for it in runs)

    assert text.format(number(cpu_s)) in said(READING)


def test_what_the_fourth_published_step_delivered():
    less, *_, more = sorted(
        100 * (1 - it["audit"]["missing"] / it["audit"]["expected"])
        for it in results("published-003", "author_celery-*")
    )
    runs = results("published-003", "mysql_published-task-roundtrip-*")
    ours = median(100 * (1 - left(it) / it["audit"]["posts"]) for it in runs)

    assert f"{less:.0f} to {more:.0f} % of the deliveries had arrived" in said(STORY)
    assert f"{ours:.0f} % of the posts with ours" in said(STORY)


def test_the_effects_of_the_factors():
    effects = re.findall(
        r"^- .*: (\S+) points of success \(author\) on average of 24 pairs.* \((\S+ … \S+)\);",
        Path("docs/example/factors/report.md").read_text(),
        re.MULTILINE,
    )

    assert len(effects) == 4
    for mean, pairs in effects:
        assert f"{mean} ({pairs})".replace("-", "\N{MINUS SIGN}") in said(STORY).replace("**", "")


def test_what_a_delivery_costs_the_engine():
    rows = json.loads(Path("docs/example/bench-clusters/bench.json").read_text())["rows"]
    costs = {people: [parts_us(row) for row in of(rows, people)] for people in (1_000, 10_000)}
    table = re.findall(r"^\| (?:.*: )?of the \w+ \| (.*) \|$", CLUSTER.read_text(), re.MULTILINE)
    few, many = (sum(cluster) / sum(one) for one, cluster, *_ in costs.values())

    written = [[float(cell.strip("-") or 0) for cell in line.split(" | ")] for line in table]
    measured = [line for parts in costs.values() for line in zip(*parts, strict=True)]
    assert written == [[float(f"{us:.2g}") for us in line] for line in measured]
    assert f"{few:.1f}" == f"{many:.1f}"
    assert f"costs a cluster of one primary {few:.1f} times what it costs one" in said(CLUSTER)


def of(rows, people):
    """Return the deliveries to so many people: by one Redis, and by more and more primaries."""
    return [row for row in rows if row["kind"] == "store" and row["people"] == people]


def parts_us(row):
    """Return the CPU per delivery of primaries, of replicas (one for each) and of the drainer."""
    nodes_s = row.get("nodes_s", [])
    replicas_s = sum(nodes_s[len(nodes_s) // 2 :])
    return row["server_us"], replicas_s / row["deliveries"] * 1e6, row["client_us"]


def test_what_a_cluster_of_three_costs():
    one, three, drainers = (
        median(cores(it) for it in results("clusters", f"mysql_tuned-outbox-ring{parts}"))
        for parts in ("", "@cluster3", "@cluster3+drainers2")
    )

    costs = f"use {three:.3f} cores, those of one Redis {one:.3f}: {three / one:.1f} times"
    assert costs in said(CLUSTER)
    assert f"Redis {three / one:.1f} times as much" in said(CLUSTER)  # the prediction's answer
    assert f"together use {drainers / three - 1:.0%} more".replace("%", " %") in said(CLUSTER)


def cores(result):
    """Return what Redis' nodes and the drainers used."""
    return (result["cpu_s"]["redis"] + result["cpu_s"]["workers"]) / result["window_s"]


def test_what_came_out_of_the_faults():
    nothing = "0 deliveries lost, 0 duplicated, 0 phantom; 0"
    found = re.search(
        rf"^([\d,]+) moments of (\d+) faults: {nothing} of ([\d,]+) pages .* (\d+) of \4 controls",
        Path("docs/example/faults/report.md").read_text(),
        re.MULTILINE,
    )

    assert found
    moments, faults, pages, controls = found.groups()
    assert f"In {moments} moments of {faults} faults, {pages} pages were read" in said(FAULTS)
    assert f"all {controls} controls are red" in said(FAULTS)

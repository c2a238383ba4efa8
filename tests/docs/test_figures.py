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


def test_what_a_cluster_costs_is_what_its_tables_say():
    row = r"^\| (?:.*: )?(?:µs of the primaries|of the \w+)[^|]*\| ([\d.-]+)[^|]*\| ([\d.]+)"
    engine = re.findall(row, CLUSTER.read_text(), re.MULTILINE)
    few, many = (
        sum(float(it) for _, it in part) / sum(float(it.strip("-") or 0) for it, _ in part)
        for part in (engine[:3], engine[3:])
    )

    assert len(engine) == 6
    assert f"about {few:.1f} times as much" in said(CLUSTER)
    assert f"{few:.1f} times (1,000 people) and {many:.1f} times (10,000)" in said(CLUSTER)


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

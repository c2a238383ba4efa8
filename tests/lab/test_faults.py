"""The experiment faults, on planted results; tests/system/test_faults.py runs some of each kind."""

from dataclasses import replace
from pathlib import Path

import pytest

from lab.experiments import EXPERIMENTS
from lab.experiments.base import RunOptions
from lab.experiments.faults import figures
from lab.faults.catalogue import FAULTS
from lab.faults.moments import Moment, Seen
from lab.faults.running import Answer
from tests.lab.test_capacity import step as searched
from tests.lab.test_report import report_of

FAULTS_RUN = EXPERIMENTS["faults"]
NAME = "mysql_tuned-outbox-ring"
CLEAN = {"missing": 0, "duplicated": 0, "unexpected": 0}
REFUSED = Answer("GET /v1/feed/", 0.0, 0.1, 503)
MOMENT = Moment(at_stake=265, normal_s=0.5, typical_s=0.01)


def seen(moments=20, **changes):
    usual = {"pages": 800, "compared": 9000, "answers": {"200": 800, "201": 400}}
    return Seen(moments=[MOMENT] * moments, **usual | changes)


def result(what, *, fault="redis-emptied", variant=NAME, timelines=CLEAN):
    audit = figures.audit_of(what, timelines, FAULTS[fault])
    extra = figures.as_extra(what)
    one = searched(1000, variant=variant)
    return replace(one, experiment="faults", load=fault, extra=extra, audit=audit, errors=[])


def test_moments_without_harm_bound_the_share_of_those_that_do(tmp_path):
    status, markdown = report_of(tmp_path, result(seen()))

    assert status == 0
    assert "20 moments of 1 fault: 0 deliveries lost, 0 duplicated, 0 phantom" in markdown
    assert "0 of 20 moments of one fault means that less than 13.9% of such moments" in markdown
    assert f"| {NAME}, redis-emptied | clean | sound | 20 | 265 | 0 | 0 | 0 | 0 | 800 |" in markdown


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"wrong_pages": 2}, "2 wrong_pages"),
        ({"answers": {"200": 8, "500": 1}}, "1 bad_answers"),
        ({"answers": {"200": 8, "none": 1}}, "1 bad_answers"),
        ({"answers": {"200": 8, REFUSED.outcome: 1}}, "1 bad_answers"),
        ({"slowest_probe_s": 7.1}, "1 slow_probes"),
        ({"moments": [replace(MOMENT, typical_s=2.0)]}, "1 late"),
        ({"moments": [replace(MOMENT, normal_s=None)]}, "1 never_normal"),
    ],
)
def test_what_was_seen_of_a_fault_can_fail_it(changes, found, tmp_path):
    status, markdown = report_of(tmp_path, result(replace(seen(), **changes)))

    assert status == 1
    assert f"FAILED: {found} |" in markdown
    assert "Not as it should be: mysql_tuned-outbox-ring, redis-emptied." in markdown


def test_a_refusal_that_says_when_to_come_again_is_right(tmp_path):
    outcome = REFUSED._replace(retry_after="1").outcome
    status, _ = report_of(tmp_path, result(replace(seen(), answers={"200": 8, outcome: 1})))

    assert status == 0


def test_what_the_audit_finds_fails_it(tmp_path):
    status, markdown = report_of(tmp_path, result(seen(), timelines={**CLEAN, "missing": 3}))

    assert status == 1
    assert "FAILED: 3 lost" in markdown


def test_only_where_refusals_are_right_may_requests_be_refused():
    refused = seen(answers={"201": 100, "503": 1})

    assert figures.audit_of(refused, CLEAN, FAULTS["database-killed"])["ok"]
    assert not figures.audit_of(refused, CLEAN, FAULTS["drainer-killed"])["ok"]


def test_pages_that_were_never_compared_prove_nothing():
    assert not figures.audit_of(seen(compared=0), CLEAN, FAULTS["redis-emptied"])["ok"]


@pytest.mark.parametrize(
    ("wrong_pages", "status", "said"), [(9, 0, "1 of 1 controls are red."), (0, 1, "| NOT RED: ")]
)
def test_a_control_has_to_be_red(wrong_pages, status, said, tmp_path):
    control = result(seen(1, wrong_pages=wrong_pages), variant=f"{NAME}@unguarded")

    found, markdown = report_of(tmp_path, result(seen()), control)

    assert found == status
    assert said in markdown


def test_a_control_differs_from_its_variant_in_what_is_planted_alone():
    plain, control = map(FAULTS_RUN.variant, (NAME, f"{NAME}@unguarded"))
    planted = {"DJANGO_SETTINGS_MODULE": "lab.faults.unguarded.settings"}

    assert control.environment == plain.environment | planted
    assert (plain.should_be_clean, control.should_be_clean) == (True, False)


def test_faults_are_tried_where_they_can_happen():
    loads = {name: {load.name for load in suited(name)} for name in FAULTS_RUN.variants}

    assert "drainer-killed" in loads[NAME]
    assert "queue-worker-killed" not in loads[NAME]
    assert "redis-emptied" not in loads["mysql_tuned-task-setbased"]
    assert "primary-killed" not in loads["mysql_tuned-outbox-ring@cluster3+unguarded"]
    assert "broker-frozen" not in loads["mysql_tuned-task-setbased@rabbitmq+unguarded"]
    assert set.union(*loads.values()) == {
        name for name, fault in FAULTS.items() if fault.unavailable() is None
    }


def test_a_server_is_not_killed_if_that_loses_commits_by_design():
    for name, is_tried in (("postgres_default", True), ("postgres_tuned", False)):
        names = {load.name for load in suited(f"{name}-outbox-ring")}
        assert ("database-killed" in names) == is_tried
        assert "database-frozen" in names
        assert "clock-moved" not in names


def suited(name):
    return FAULTS_RUN.loads_of(FAULTS_RUN.variant(name), RunOptions())


def test_the_page_lists_the_faults():
    catalogue = Path("docs/faults.md").read_text().partition("## The catalogue")[2]
    catalogue = catalogue.partition("## ")[0]

    table = [row for row in catalogue.splitlines() if row.startswith("| `")]
    controls = [fault.safeguard or f"no control: {fault.no_control}" for fault in FAULTS.values()]
    assert table == [
        f"| `{fault.name}` | {fault.text} | {control} |"
        for fault, control in zip(FAULTS.values(), controls, strict=True)
    ]


def test_a_fault_that_becomes_unavailable_leaves_no_other_one_out(monkeypatch):
    """As when another laboratory takes the addresses of the same networks for a while."""
    names = ["redis-emptied", "redis-frozen", "redis-full", "redis-killed"]
    variant, options = FAULTS_RUN.variant(NAME), RunOptions(loads=",".join(names))
    done = []
    while runs := FAULTS_RUN.next_runs([variant], options, {NAME: done}):
        ((_, load),) = runs
        done.append(result(seen(), fault=load.name))
        gone = replace(FAULTS[names[0]], unavailable=lambda: "its addresses are taken")
        monkeypatch.setitem(FAULTS, names[0], gone)

    assert [one.load for one in done] == names

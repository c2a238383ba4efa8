"""Two verdicts on a run, apart: its deliveries, and its figures."""

import json
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

from lab.__main__ import main
from lab.experiments import EXPERIMENTS
from lab.experiments.faults.figures import audit_of
from lab.faults.catalogue import FAULTS
from tests.commands import python
from tests.lab.test_faults import CLEAN as WHOLE
from tests.lab.test_faults import result as fault
from tests.lab.test_faults import seen
from tests.lab.test_laws import AS_COMMITTED
from tests.lab.test_report import CLEAN, ENVIRONMENT, HALF, balance, report_of, result

OTHERS = {"cpu_s": {"web": 20.0, "locust": 4.0}, "balance": balance(busy_cores=1.9)}
"""1.2 cores of the run's own, and 0.7 of other programs."""
LOOP = "import os; os.nice(19)\nwhile True: pass"
"""A program that takes what others leave."""
SHORT = AS_COMMITTED | {"balance": balance(20.2, cycle_s=13.842)}
NOTHING = CLEAN | {"posts": 0, "expected": 0}
SHARED = {"environment": ENVIRONMENT | {"command": "python -m lab run fanout --shared"}}


@pytest.mark.parametrize(
    ("figures", "status", "looks", "deliveries", "worth"),
    [
        ({}, 0, "clean clean", "clean", "sound"),
        (OTHERS, 3, "clean doubtful", "clean", "machine busy"),
        (SHORT, 3, "clean short", "clean", "window too short"),
        ({"balance": balance(250.0, cycle_s=3.0)}, 3, "clean doubtful", "clean", "inconsistent"),
        (SHORT | SHARED, 0, "clean unknown", "clean", "not judged (--shared)"),
        ({"audit": HALF}, 1, "lost clean", "lost or wrong", "sound"),
        ({"audit": HALF} | OTHERS, 1, "lost doubtful", "lost or wrong", "machine busy"),
        ({"audit": HALF} | SHARED, 1, "lost unknown", "lost or wrong", "not judged (--shared)"),
        ({"audit": None}, 1, "unknown unknown", "not compared", "not measured"),
        ({"audit": NOTHING}, 1, "unknown clean", "not compared", "sound"),
    ],
)  # fmt: skip
def test_deliveries_and_figures_are_judged_apart(
    figures, status, looks, deliveries, worth, tmp_path, capsys
):
    ended, markdown = report_of(tmp_path, result(**figures))
    terminal, page = capsys.readouterr().out, (tmp_path / "report.html").read_text()
    (run,) = json.loads((tmp_path / "results.json").read_text())

    assert ended == status
    assert run["verdict"] == {"deliveries": deliveries, "figures": worth, "objection": None}
    assert re.findall(r'<dd><p><span class="chip (\w+)">', page) == looks.split()
    assert re.findall(r'<td data-label="(?:audit|figures)".*?chip (\w+)', page) == looks.split()
    for verdict in (deliveries.capitalize(), worth.capitalize()):
        assert verdict in markdown
        assert verdict in terminal
        assert verdict in page
    assert f"| {worth} |" in markdown


def test_a_busy_machine_is_no_failure_of_the_audit(tmp_path):
    _, markdown = report_of(tmp_path, result(**OTHERS, generator_saturated=True))
    page = (tmp_path / "report.html").read_text()

    assert "--shared" in page
    assert "1.9 cores were busy" in page
    assert "with a clean audit has no figures that can be compared" in markdown
    for false in ("No variant that", "Offer less", "FAILED", "See the errors"):
        assert false not in markdown + page
    assert "machine busy" in (tmp_path / "headline.svg").read_text()


def test_each_verdict_names_whom_it_is_about(tmp_path):
    lossy = result("sqlite-outbox-bulk", repeat=3, audit=HALF)
    _, markdown = report_of(
        tmp_path, result("sqlite-outbox-setbased"), result(**OTHERS, repeat=2), lossy
    )

    assert "**Deliveries**: Lost or wrong in sqlite-outbox-bulk: " in markdown
    assert "Clean in sqlite-outbox-setbased; sqlite-inline-bulk." in markdown
    assert "**Figures**: Machine busy in sqlite-inline-bulk: " in markdown


def test_times_of_a_fault_count_on_a_quiet_machine_only():
    late, of = seen(slowest_probe_s=9.0), FAULTS["redis-emptied"]
    lossy = {"missing": 1, "duplicated": 0, "unexpected": 0}

    assert not audit_of(late, WHOLE, of)["ok"]
    assert audit_of(late, WHOLE, of, is_busy=True)["ok"]
    assert not audit_of(late, lossy, of, is_busy=True)["ok"]


def test_times_of_a_fault_are_not_judged_where_the_machine_is_shared(tmp_path, monkeypatch):
    late, one = seen(slowest_probe_s=9.0), fault(seen())
    one.environment = one.environment | SHARED["environment"]
    monkeypatch.setattr("lab.experiments.faults.audit_pages", lambda *_: WHOLE)
    monkeypatch.setattr("lab.experiments.faults.Seen.read", lambda _: late)
    service = SimpleNamespace(folder=tmp_path, variant=SimpleNamespace(is_control=False))
    load = SimpleNamespace(name="redis-emptied")

    EXPERIMENTS["faults"].conclude(
        SimpleNamespace(service=service, result=one, folder=tmp_path, load=load)
    )

    assert one.audit["ok"]


def test_the_worst_status_of_all_replays_is_that_of_the_lost_deliveries(tmp_path, monkeypatch):
    statuses = iter([3, 1, 0, 3, *[0] * 20])
    monkeypatch.setattr("lab.__main__.run_experiment", lambda *_: next(statuses))

    assert main(["run", "published", f"--out={tmp_path}"]) == 1


def test_a_run_on_a_really_busy_machine_delivers_and_says_so(tmp_path):
    """As many other programs as there are cores, which leave them to whoever asks."""
    small = ("--users=5", "--people=30", "--friends=10", "--run-time=3s")
    command = ("run", "fanout", "--variants=sqlite-outbox-setbased", *small, f"--out={tmp_path}")
    loops = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(os.cpu_count() or 1)]
    try:
        done = python("-m", "lab", *command)
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()

    assert done.returncode == 3, done.stdout + done.stderr
    assert "Deliveries: Clean." in done.stdout
    assert "Figures: Machine busy: " in done.stdout

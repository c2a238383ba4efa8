"""docs/extending.md, run as it is printed."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path("docs/extending.md").read_text()
STORE, STRATEGY, SETTINGS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
(COMMANDS,) = re.findall(r"```\nexport (.*?)```", PAGE, re.DOTALL)
CHOSEN, LIST, CONTRACT, RUN, BENCH = COMMANDS.splitlines()


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    """Run a command of the page beside the modules of the page; yield how it went."""
    folder = tmp_path_factory.mktemp("mine")
    (folder / "mine.py").write_text(f"{STORE}\n\n{STRATEGY}")
    (folder / "my_settings.py").write_text(SETTINGS)
    name, _, module = CHOSEN.partition("=")
    env = os.environ | {"PYTHONPATH": str(folder), name: module}

    def run(line, *options):
        program, *arguments = line.split()
        assert program == ".venv/bin/python"
        return subprocess.run(
            [sys.executable, *arguments, *options], env=env, capture_output=True, text=True
        )

    return run


def test_the_service_lists_both(command):
    listed = json.loads(command(LIST, "--json").stdout)

    assert listed["timeline_stores"]["plainsets"]["needs_redis"]
    assert listed["strategies"]["hybrid"]["needs_shared_store"]
    assert "  hybrid: delivers, needs_shared_store, needs_drainer" in command(LIST).stdout


def test_the_contract_tests_run_over_the_store(command):
    done = command(CONTRACT, "-p", "no:cacheprovider")

    assert done.returncode == 0, done.stdout
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 20


def test_the_laboratory_runs_and_audits_the_pair(command, tmp_path):
    done = command(RUN, "--shared", f"--out={tmp_path}")

    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "sqlite-hybrid-plainsets-1/result.json").read_text())
    assert result["audit"]["ok"]
    assert result["audit"]["expected"] == 21 * result["audit"]["posts"] > 0


def test_the_bench_draws_the_store(command, tmp_path):
    done = command(BENCH, f"--out={tmp_path}")

    assert done.returncode == 0, done.stderr
    assert "plainsets" in (tmp_path / "batch.svg").read_text()

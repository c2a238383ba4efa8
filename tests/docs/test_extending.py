"""Runs docs/extending.md as printed."""

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.commands import python

PAGE = Path("docs/extending.md").read_text()
FILES = dict(re.findall(r"`([\w/.]+)`:\n\n```python\n(.*?)```", PAGE, re.DOTALL))
(COMMANDS,) = re.findall(r"```\nexport (.*?)```", PAGE, re.DOTALL)
VARIABLES, MIGRATE, LIST, CONTRACT, QUEUES, RUN, BENCH = COMMANDS.splitlines()
(LINE,) = re.findall(r'```python\n("\w+": "[\w.]+"),\n```', PAGE)
LABORATORY = f"""
import runpy
from lab.experiments import PATHS
PATHS |= {{{LINE}}}
runpy.run_module("lab", run_name="__main__", alter_sys=True)
"""
"""The laboratory with the line of the page."""
SETTINGS = "my_settings.py"
FILES_OF = {
    "a strategy": {"hybrid.py", SETTINGS},
    "a store in Redis": {"plainstrings.py", SETTINGS},
    "a store in a table": {
        "plainrows/models.py",
        "plainrows/store.py",
        "plainrows/migrations/0001_initial.py",
        SETTINGS,
    },
    "a queue": {"listqueue.py", SETTINGS},
    "an experiment": {"quiet.py"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder outside of the repository with the files of the page."""
    folder = tmp_path_factory.mktemp("mine")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def command(folder):
    """Run a command of the page in the folder, after makemigrations; return the result."""
    variables = dict(variable.split("=") for variable in VARIABLES.split())

    def run(line, *options):
        program, *arguments = shlex.split(line)
        assert program == ".venv/bin/python"
        if arguments[:2] == ["-m", "lab"]:
            arguments[:2] = ["-c", LABORATORY]
        return python(*arguments, *options, **variables, PYTHONPATH=str(folder))

    assert run(MIGRATE).returncode == 0
    return run


@pytest.mark.usefixtures("command")
def test_each_extension_takes_as_many_files_as_the_page_says(folder):
    written = {str(path.relative_to(folder)) for path in folder.rglob("*.py")}

    assert [len(files) for files in FILES_OF.values()] == [2, 2, 4, 2, 1]
    assert written - {"plainrows/migrations/__init__.py"} == set.union(*FILES_OF.values())


def test_the_service_lists_all_extensions(command):
    listed = json.loads(command(LIST, "--json").stdout)

    assert listed["timeline_stores"]["plainstrings"]["needs_redis"]
    assert listed["timeline_stores"]["plainrows"]["is_transactional"]
    assert listed["queues"]["listqueue"]["brokers"] == ["redis"]
    assert listed["strategies"]["hybrid"]["needs_shared_store"]
    assert "  hybrid: delivers, needs_shared_store, needs_drainer" in command(LIST).stdout


def test_the_contract_tests_run_over_both_stores(command):
    done = command(CONTRACT, "-p", "no:cacheprovider")

    assert done.returncode == 0, done.stdout
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 40


def test_real_workers_carry_out_the_tasks_of_the_queue(command):
    done = command(QUEUES, "-p", "no:cacheprovider")

    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout


def test_the_laboratory_finds_the_experiment_and_audits_a_variant_of_it(command, tmp_path):
    """With the store in a table; the bench has the one in Redis."""
    chosen = ("--variants=sqlite-hybrid-plainrows", "--shared", "--run-time=2s")
    done = command(RUN, *chosen, f"--out={tmp_path}")

    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "sqlite-hybrid-plainrows-1/result.json").read_text())
    assert result["experiment"] == "quiet"
    assert result["audit"]["ok"]
    assert result["audit"]["expected"] == 21 * result["audit"]["posts"] > 0


def test_the_bench_draws_a_store(command, tmp_path):
    small = ("--people=60", "--friends=10", "--stores=plainstrings", "--seconds=0.1")
    done = command(BENCH, *small, f"--out={tmp_path}")

    assert done.returncode == 0, done.stderr
    assert "plainstrings" in (tmp_path / "batch.svg").read_text()

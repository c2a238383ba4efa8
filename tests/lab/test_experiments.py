"""An experiment is a folder of its own, which the laboratory finds."""

import json
import os
import subprocess
import sys

EXPERIMENT = """
from lab.experiments.fanout import Fanout, FanoutPresentation


class QuietPresentation(FanoutPresentation):
    published = ()


class Quiet(Fanout):
    name = "quiet"
    presentation = QuietPresentation()
    locustfile = "{folder}/locustfile.py"
    variants = ("sqlite-inline-setbased",)
"""
SMALL = ("--people=30", "--friends=5", "--users=10", "--run-time=2s", "--shared")


def test_a_folder_outside_of_the_repository_is_listed_and_run(tmp_path):
    folder = tmp_path / "experiments/quiet"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(EXPERIMENT.format(folder=folder))
    (folder / "locustfile.py").write_text("from locustfiles.fanout import *  # noqa: F403\n")
    environment = os.environ | {"LAB_EXPERIMENTS": str(folder.parent)}

    def lab(*arguments):
        command = [sys.executable, "-m", "lab", *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    assert "quiet\n  sqlite-inline-setbased\n" in lab("list").stdout
    done = lab("run", "quiet", *SMALL, f"--out={tmp_path / 'out'}")
    assert done.returncode == 0, done.stderr
    (result,) = (tmp_path / "out").glob("*/result.json")
    assert json.loads(result.read_text())["audit"]["ok"]

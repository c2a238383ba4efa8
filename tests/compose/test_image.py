import json
import os
import subprocess
import sys
from pathlib import Path

from django.apps import apps

from launch.processes import Processes, free_port
from tests.compose.project import DOCKERFILE, environment, instructions

HADOLINT = Path(sys.executable).with_name("hadolint")
COPIED = [
    source
    for copy in instructions("COPY")
    if not copy.startswith("--from")
    for source in copy.split()[:-1]
]


def test_hadolint_finds_nothing():
    done = subprocess.run([HADOLINT, "--no-color", DOCKERFILE], capture_output=True, text=True)

    assert done.returncode == 0, done.stdout


def test_copied_folders_are_those_that_dockerignore_allows():
    everything, *lines = Path(".dockerignore").read_text().splitlines()

    assert everything == "*"
    assert sorted(COPIED) == sorted(line[1:] for line in lines if line.startswith("!"))
    assert all(Path(source).exists() for source in COPIED)


def test_every_app_of_the_service_is_copied():
    here = [Path(app.path) for app in apps.get_app_configs()]

    assert {path.name for path in here if path.parent == Path.cwd()} <= set(COPIED)


def test_the_image_does_not_run_as_root():
    assert instructions("USER") == ["1000"]


def test_the_health_check_fails_for_a_dead_app(tmp_path):
    port = free_port()
    check = _argv(instructions("HEALTHCHECK")[0].partition(" CMD ")[2], port)
    sqlite = {"DATABASE_URL": f"sqlite:///{tmp_path}/feed.sqlite3"}

    def healthy():
        return subprocess.run(check, capture_output=True, timeout=5).returncode == 0

    with Processes(tmp_path / "logs") as processes:
        assert not healthy()
        processes.start("web", _argv(instructions("CMD")[0], port), environment("app") | sqlite)
        processes.wait_until("web", healthy)


def _argv(exec_form, port):
    """Return a command of the image, adapted to .venv/ and another port."""
    program, *arguments = json.loads(exec_form.replace("8000", str(port)))
    return [os.fspath(Path(sys.executable).with_name(program)), *arguments]

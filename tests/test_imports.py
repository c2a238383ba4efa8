"""import-linter judges what it sees: its graph holds every Python file."""

import subprocess
import tomllib
from pathlib import Path

import grimp

SCRIPTS = {"manage"}
"""Files of no package."""


def test_the_graph_of_imports_holds_every_file():
    roots = tomllib.loads(Path("pyproject.toml").read_text())["tool"]["importlinter"][
        "root_packages"
    ]

    graph = grimp.build_graph(*roots, include_external_packages=True)

    assert graph.modules >= tracked_modules() - SCRIPTS


def tracked_modules() -> set[str]:
    listed = subprocess.run(
        ["git", "ls-files", "*.py"], capture_output=True, text=True, check=True
    ).stdout
    names = {path.removesuffix(".py").replace("/", ".") for path in listed.split()}
    return {name.removesuffix(".__init__") for name in names}

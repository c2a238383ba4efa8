"""The graph of imports, which import-linter judges: it holds every Python file, and no circle."""

import subprocess
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

SCRIPTS = {"manage"}
"""Files of no package."""
ROOTS = tomllib.loads(Path("pyproject.toml").read_text())["tool"]["importlinter"]["root_packages"]


@pytest.fixture(scope="module")
def graph():
    return grimp.build_graph(*ROOTS, include_external_packages=True)


def test_the_graph_of_imports_holds_every_file(graph):
    assert graph.modules >= tracked_modules() - SCRIPTS


@pytest.mark.parametrize("package", ROOTS)
def test_no_files_of_a_package_import_each_other_in_a_circle(graph, package):
    files = {package, *graph.find_descendants(package)}
    imports = {file: graph.find_modules_directly_imported_by(file) & files for file in files}

    TopologicalSorter(imports).prepare()  # or it raises CycleError


def tracked_modules() -> set[str]:
    listed = subprocess.run(
        ["git", "ls-files", "*.py"], capture_output=True, text=True, check=True
    ).stdout
    names = {path.removesuffix(".py").replace("/", ".") for path in listed.split()}
    return {name.removesuffix(".__init__") for name in names}

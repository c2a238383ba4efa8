"""The tables of docs/reference/settings.md, and the variables that the sources read."""

import ast
import re
from pathlib import Path

import pytest

PAGE = Path("docs/reference/settings.md")
SERVICE = [*Path("config").glob("*.py")]
REPLAYS = [*Path().glob("replays/*/settings.py")]
ROW = re.compile(r"^\| `([A-Z_]+)` \| *(.*?) *\|", re.MULTILINE)
SERVICE_TABLE, _, REPLAYS_TABLE = PAGE.read_text().partition("## Replays")


def read_variables(sources):
    """Return the default (its syntax tree, or None) of each variable that is read from env."""
    calls = [
        node
        for source in sources
        for node in ast.walk(ast.parse(source.read_text()))
        if isinstance(node, ast.Call) and node.args and "env" in names(node.func)
    ]
    return {
        call.args[0].value: next((it.value for it in call.keywords if it.arg == "default"), None)
        for call in calls
        if isinstance(call.args[0], ast.Constant)
    }


def names(function):
    """Return the names in a.b.c, or in a."""
    return {it.id for it in ast.walk(function) if isinstance(it, ast.Name)} | {
        it.attr for it in ast.walk(function) if isinstance(it, ast.Attribute)
    }


def written(default):
    """Return a literal default as the table has it."""
    value = ast.literal_eval(default)
    if isinstance(value, bool):
        return f"`{value:d}`"
    if isinstance(value, list | dict):
        value = ",".join(value)
    return f"`{value}`" if value != "" else ""


@pytest.mark.parametrize(
    ("table", "sources"),
    [(SERVICE_TABLE, SERVICE), (REPLAYS_TABLE, REPLAYS)],
    ids=["service", "replays"],
)
def test_each_variable_that_is_read_is_in_the_table_and_no_other(table, sources):
    assert sorted(name for name, _ in ROW.findall(table)) == sorted(read_variables(sources))


def test_the_table_has_the_defaults_that_are_literals():
    defaults = read_variables(SERVICE + REPLAYS)
    rows = dict(ROW.findall(PAGE.read_text()))

    literals = {name: it for name, it in defaults.items() if not rows[name].startswith("*")}
    assert len(literals) > len(defaults) / 2
    assert {name: rows[name] for name in literals} == {
        name: written(default) for name, default in literals.items()
    }

"""Two runs side by side."""

from collections.abc import Iterator
from pathlib import Path

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from lab.comparison import experiment_of, lines
from lab.line import Line
from lab.numbers import number
from lab.result import Figure, Result, read_results

MACHINE = ("cpu", "cpus", "memory_gib")
"""What has to be alike, or figures of the two say more of the machines than of the service."""


def compare(first: Path, second: Path, *, anyway: bool) -> None:
    """Print the variants that both folders have, figure by figure.

    Raises ValueError if a folder has no results, if they share no variant, or if they are of
    unlike machines and not told to compare ``anyway``.
    """
    one, other = _read(first), _read(second)
    unlike = list(_differences(one[0], other[0]))
    if unlike and not anyway:
        raise ValueError(f"the machines differ ({', '.join(unlike)}); --anyway compares them")
    others = {line.name: line for line in lines(other)}
    pairs = [(a, others[a.name]) for a in lines(one) if a.name in others]
    if not pairs:
        raise ValueError(f"{first} and {second} share no variant")
    table = Table(title=f"{first} → {second}", caption=", ".join(unlike) or None, box=SIMPLE)
    table.add_column("variant", no_wrap=True)
    columns = [column for column in experiment_of(lines(one)).columns if column.brief]
    for column in columns:
        table.add_column(column.label, justify="right", no_wrap=True)
    for pair in pairs:
        table.add_row(pair[0].name, *(_change(*pair, column.figure) for column in columns))
    Console(width=max(Console().width, 130)).print(table)


def _change(before: Line, after: Line, figure: Figure) -> str:
    """Write a figure of both runs and their ratio."""
    old, new = before.median(figure), after.median(figure)
    ratio = f" ({new / old:.2f} of it)" if old and new is not None else ""
    return f"{number(old)} → {number(new)}{ratio}"


def _read(folder: Path) -> list[Result]:
    results = list(read_results(folder))
    if not results:
        raise ValueError(f"there are no results in {folder}")
    return results


def _differences(one: Result, other: Result) -> Iterator[str]:
    for name in MACHINE:
        here, there = one.environment.get(name), other.environment.get(name)
        if here != there:
            yield f"{name}: {here} and {there}"

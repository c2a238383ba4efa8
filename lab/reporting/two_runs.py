"""Two runs side by side."""

from collections.abc import Iterator
from pathlib import Path

from rich.box import SIMPLE
from rich.table import Table

from lab.progress import print_whole
from lab.reporting.comparison import presentation_of, summaries
from lab.reporting.presentation import Column
from lab.reporting.tables import cell
from lab.results.result import Result, read_results
from lab.results.summary import Summary, is_tie

MACHINE = ("cpu", "cpus", "memory_gib")
"""Facts that have to be equal for a comparison."""
LOAD = ("window_s", "offered_rps")


def compare(first: Path, second: Path, *, anyway: bool) -> None:
    """Print the variants that both folders have, figure by figure.

    Raises ValueError if a folder has no results, if they share no variant, or if they are of
    unlike machines or loads and not asked to compare ``anyway``.
    """
    one, other = _read(first), _read(second)
    others = {summary.name: summary for summary in summaries(other)}
    pairs = [(a, others[a.name]) for a in summaries(one) if a.name in others]
    if not pairs:
        raise ValueError(f"{first} and {second} share no variant")
    loads = [difference for pair in pairs for difference in _unlike_loads(*pair)]
    unlike = [*_differences(one[0], other[0]), *loads]
    if unlike and not anyway:
        raise ValueError(f"the runs differ ({'; '.join(unlike)}); --anyway compares them")
    table = Table(title=f"{first} → {second}", caption=", ".join(unlike) or None, box=SIMPLE)
    table.add_column("variant", no_wrap=True)
    columns = [column for column in presentation_of(summaries(one)).columns if column.brief]
    for column in columns:
        table.add_column(column.label, justify="right", no_wrap=True)
    for pair in pairs:
        table.add_row(pair[0].name, *(_change(*pair, column) for column in columns))
    print_whole(table)


def _change(before: Summary, after: Summary, column: Column) -> str:
    """Write a figure of both runs, and their ratio or that they tie."""
    old, new = before.median(column.figure), after.median(column.figure)
    figures = f"{cell(before, column)} → {cell(after, column)}"
    if not old or new is None:
        return figures
    ratio = "tie" if is_tie(before, after, column.figure) else f"x {new / old:.3g}"
    return f"{figures} ({ratio})"


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


def _unlike_loads(before: Summary, after: Summary) -> Iterator[str]:
    for name in LOAD:
        here, there = getattr(before.results[0], name), getattr(after.results[0], name)
        if here != there:
            yield f"{before.name}, {name}: {here:g} and {there:g}"

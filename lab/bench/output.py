"""Output of a bench: a page, the same as Markdown with its pictures, and the terminal's tables."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lab.bench.record import FILE, Record
from lab.bench.tables import name_of, tables
from lab.bench.targets import Grid
from lab.progress import print_page
from lab.reporting import plots
from lab.reporting.formats import machine
from lab.reporting.page import Command, Commands, Listing, Page, Picture

PAGE = "report.html"
USUAL = {"people": 1_000, "friends": 500, "batch": 100}
WIDER = {"people": 10_000, "friends": 500, "batch": 25}
"""Where every number of friends is possible, at a cost that slow stores can pay."""
AXES = {"batch": "posts per batch", "people": "people", "friends": "friends of each author"}
FORMS = {"sqlite": "s:", "postgres": "^--"}
"""Of the lines of a database's stores; a store has a colour."""
HOW = (
    "Fresh posts by random authors, delivered by one process with get_timeline_store().deliver, "
    "friend look-up included. A figure is of one cell: half a second, or what --seconds said. The "
    "logs of log are full before its cells begin. A dash is a cell whose one batch would take "
    "longer than five seconds, or a server that there is none of. CPU is in µs per delivery (or a "
    "read). Client and server share the machine. The timelines of some people were checked after "
    "each number of friends."
)
WHAT_TO_DO = (
    "Choose a store by the cell that is closest to your batch, people and friends, then try it "
    "with requests: python -m lab run fanout. This is the engine alone, so it is an upper bound."
)


def report_bench(folder: Path) -> bool:
    """Print and write the report of an earlier bench; return whether all went well."""
    record = Record.read(folder)
    show(publish(record, Grid.of(record.rows)), folder)
    return not record.failures


def publish(record: Record, grid: Grid) -> Page:
    """Write bench.md, its pictures and report.html beside bench.json."""
    record.write()
    page = page_of(record, grid)
    page.write(record.out / PAGE)
    (record.out / "bench.md").write_text(page.as_markdown())
    return page


def show(page: Page, folder: Path) -> None:
    page.show()
    print_page(folder / PAGE)


def page_of(record: Record, grid: Grid) -> Page:
    failures = [Listing("Failed", record.failures)] if record.failures else []
    command = record.environment["command"]
    return Page(
        title="Deliveries, the engine alone",
        answer=answer(record.rows),
        facts={
            "What was tried": HOW,
            "On what": machine([record.environment]),
            "What to do with it": WHAT_TO_DO,
        },
        parts=[
            *failures,
            *pictures(record.rows, grid),
            *tables(record, grid),
            Commands("How to repeat it", [Command("The whole bench", command)]),
        ],
        lesson="docs/laboratory.md",
        files=[FILE],
    )


def answer(rows: list[dict[str, Any]]) -> str:
    """Name the cell with most deliveries/s."""
    found = [row for row in rows if row["kind"] == "store" and row["deliveries_per_s"]]
    if not found:
        return "No store delivered anything."
    best = max(found, key=lambda row: row["deliveries_per_s"])
    return (
        f"{name_of(best)} made most deliveries: {best['deliveries_per_s']:,.0f}/s, with "
        f"{best['batch']:,} posts per batch, {best['people']:,} people and "
        f"{best['friends']:,} friends of each author."
    )


def pictures(rows: list[dict[str, Any]], grid: Grid) -> Iterator[Picture]:
    """Yield a picture for each axis of the grid that has several values."""
    several = [axis for axis in AXES if len(getattr(grid, axis)) > 1]
    every = {axis: curves(rows, axis, _fixed(axis, grid)) for axis in several}
    colours = plots.colours(_store(name) for found in every.values() for name in found)
    for axis, found in every.items():
        if found:
            fixed = _fixed(axis, grid).items()
            where = " and ".join(f"{number:,} {AXES[name]}" for name, number in fixed)
            text = f"Deliveries per second of each store, with {where}."
            drawing = growth(found, colours, AXES[axis])
            yield Picture(f"Over {AXES[axis]}", text, drawing, f"{axis}.svg")


def curves(
    rows: list[dict[str, Any]], axis: str, fixed: Mapping[str, int]
) -> dict[str, plots.Points]:
    """Return the deliveries/s of each store along an axis, the fastest store first."""
    found: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        is_here = row["kind"] == "store" and fixed.items() <= row.items()
        if is_here and row["deliveries_per_s"]:
            found.setdefault(name_of(row), []).append((row[axis], row["deliveries_per_s"]))
    return dict(sorted(found.items(), key=lambda curve: -curve[1][-1][1]))


def growth(
    found: Mapping[str, plots.Points], colours: Mapping[str, str], label: str
) -> plots.Drawing:
    """Deliveries/s over one of the three, the two others fixed."""
    lines = [
        plots.Line(name, points, colours[_store(name)], _tip(name, points), _form(name))
        for name, points in found.items()
    ]
    measured = sorted({x for points in found.values() for x, _ in points})
    return plots.curves(
        plots.Panel(lines, label, "deliveries/s", "", over=lambda axes: axes.set_xticks(measured))
    )


def _store(name: str) -> str:
    return name.rpartition("-")[2]


def _form(name: str) -> str:
    return FORMS.get(re.split("[_-]", name)[0], "o-")


def _tip(name: str, points: plots.Points) -> str:
    return f"{name}: " + ", ".join(f"{x:,.0f} → {y:,.0f}/s" for x, y in points)


def _fixed(axis: str, grid: Grid) -> dict[str, int]:
    """Return where a curve is cut out of the grid: at what is usual, or at what there is."""
    wanted = WIDER if axis == "friends" else USUAL
    return {
        name: number if number in getattr(grid, name) else getattr(grid, name)[-1]
        for name, number in wanted.items()
        if name != axis
    }

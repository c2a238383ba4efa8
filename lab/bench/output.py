"""Output of a bench: tables in the terminal, a Markdown page, an HTML page and pictures."""

from pathlib import Path
from typing import Any

from markupsafe import Markup
from rich.console import Console

from lab.bench.grid import Grid
from lab.bench.pictures import pictures
from lab.bench.record import Record
from lab.bench.tables import name_of, sheets, whole
from lab.progress import print_page, print_whole
from lab.reporting.first_screen import lesson
from lab.reporting.page import TEMPLATES

HOW = (
    "Each figure is of fresh posts by random authors, delivered by one process with "
    "`get_timeline_store().deliver`, friend look-up included, and of one cell: half a second, or "
    "what `--seconds` said. The logs of `log` are full before its cells begin. "
    "A dash is a cell whose one batch would take longer than five seconds, or a server that there "
    "is none of. CPU is in µs per delivery (or a read). Client and server share the machine. The "
    "timelines of some people were checked after each number of friends."
)


def show(record: Record, grid: Grid) -> None:
    for sheet in filter(lambda sheet: sheet.rows, sheets(record, grid)):
        print_whole(sheet.as_rich())
    for failure in record.failures:
        Console().print(f"[red]failed:[/red] {failure}")
    print_page(record.out / "report.html")


def report_bench(folder: Path) -> bool:
    """Print and write the report of an earlier bench; return whether all went well."""
    record = Record.read(folder)
    grid = Grid.of(record.rows)
    publish(record, grid)
    show(record, grid)
    return not record.failures


def publish(record: Record, grid: Grid) -> None:
    """Write bench.md, its pictures and report.html beside bench.json."""
    record.write()
    drawn = dict(pictures(record.rows, grid))
    for name, svg in drawn.items():
        (record.out / f"{name}.svg").write_text(svg)
    tables = [sheet for sheet in (*sheets(record, grid), whole(record, grid)) if sheet.rows]
    parts = [
        "# Deliveries, the engine alone",
        f"`{record.environment['command']}`",
        machine(record.environment),
        *(f"FAILED: {failure}" for failure in record.failures),
        *(sheet.as_markdown() for sheet in tables),
        *(f"![deliveries/s over {name}]({name}.svg)" for name in drawn),
        HOW,
    ]
    (record.out / "bench.md").write_text("\n\n".join(parts) + "\n")
    page = TEMPLATES.get_template("bench.html").render(
        plots=[(name, Markup(svg)) for name, svg in drawn.items()],  # noqa: S704  our own drawing
        answer=answer(record.rows),
        sheets=tables,
        failures=record.failures,
        how=HOW.replace("`", ""),
        command=record.environment["command"],
        machine=machine(record.environment),
        lesson=lesson("docs/laboratory.md", record.out),
    )
    (record.out / "report.html").write_text(page)


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


def machine(env: dict[str, Any]) -> str:
    servers = ", ".join(f"{name} {version}" for name, version in env["servers"].items())
    return (
        f"{env['cpus']} cores ({env['cpu']}), {env['memory_gib']} GiB, "
        f"Python {env['python']}, commit {env['commit'] or 'unknown'}; {servers}; calibration "
        f"{env['calibration_ms']:g} ms."
    )

"""What people read of a bench: tables in the terminal, a page of Markdown, and pictures."""

from typing import Any

from rich.console import Console

from lab.bench.grid import Grid
from lab.bench.pictures import pictures
from lab.bench.record import Record
from lab.bench.tables import sheets, whole
from lab.report import TABLE_WIDTH

HOW = (
    "Each figure is of fresh posts by random authors, delivered by one process with "
    "`get_timeline().deliver`, friend look-up included, and of one cell of about half a second. "
    "A dash is a cell whose one batch would take longer than five seconds, or a server that there "
    "is none of. CPU is in µs a delivery (or a read). Client and server share the machine. The "
    "timelines of some people were checked after each number of friends."
)


def show(record: Record, grid: Grid) -> None:
    console = Console(width=max(Console().width, TABLE_WIDTH))
    for sheet in filter(lambda sheet: sheet.rows, sheets(record, grid)):
        console.print(sheet.as_rich())
    for failure in record.failures:
        console.print(f"[red]failed:[/red] {failure}")
    console.print(f"results: {record.out}")


def publish(record: Record, grid: Grid) -> None:
    """Write bench.md and its pictures beside bench.json."""
    record.write()
    drawn = dict(pictures(record.rows, grid))
    for name, svg in drawn.items():
        (record.out / f"{name}.svg").write_text(svg)
    tables = [*sheets(record, grid), whole(record, grid)]
    parts = [
        "# Deliveries, the engine alone",
        machine(record.environment),
        *(f"FAILED: {failure}" for failure in record.failures),
        *(sheet.as_markdown() for sheet in tables if sheet.rows),
        *(f"![deliveries/s over {name}]({name}.svg)" for name in drawn),
        HOW,
    ]
    (record.out / "bench.md").write_text("\n\n".join(parts) + "\n")


def machine(env: dict[str, Any]) -> str:
    servers = ", ".join(f"{name} {version}" for name, version in env["servers"].items())
    return (
        f"`{env['command']}`\n\n{env['cpus']} cores ({env['cpu']}), {env['memory_gib']} GiB, "
        f"Python {env['python']}, commit {env['commit'] or 'unknown'}; {servers}; calibration "
        f"{env['calibration_ms']:g} ms."
    )

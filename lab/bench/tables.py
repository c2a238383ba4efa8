"""The figures of a bench as tables."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from lab.bench.record import Record, each_us
from lab.bench.targets import Grid
from lab.reporting.formats import number
from lab.reporting.table import Table
from launch.variants import GUNICORN

READS = ("first page", "deep page", "hydrated")
COSTS = ("deliveries_per_s", "client_us", "server_us")
Row = dict[str, Any]


def tables(record: Record, grid: Grid) -> list[Table]:
    return [
        compared(record, grid),
        clusters(record),
        reads(record),
        requests(record),
        beside(record),
    ]


def compared(record: Record, grid: Grid) -> Table:
    """The stores at the base of the grid."""
    people, friends = grid.base
    head = ["store"]
    for batch in grid.base_batches:
        head += [f"batches of {batch}", "client + server µs"]
    rows = [
        [name, *_costs(cells, grid), number(next(iter(cells.values()))["bytes_per_entry"])]
        for name, cells in by_store(record.rows, people=people, friends=friends).items()
    ]
    title = f"{people:,} people, {friends:,} friends each: deliveries/s"
    return Table(title, [*head, "bytes per entry"], rows)


def clusters(record: Record) -> Table:
    """What a delivery costs the nodes of a cluster, and how even their shares are."""
    rows = [
        [row["store"], *(f"{row[name]:,}" for name in Grid._fields), *map(number, _shares(row))]
        for row in record.rows
        if row.get("nodes_s")
    ]
    head = [
        *("store", *Grid._fields, "primaries µs", "replicas µs", "client µs", "busiest over mean"),
        *("round trips per batch and primary", "replicated bytes"),
    ]
    return Table("Clusters: per delivery", head, rows)


def _shares(row: Row) -> Iterator[float | None]:
    half = len(row["nodes_s"]) // 2
    primaries, replicas = row["nodes_s"][:half], row["nodes_s"][half:]
    yield from (row["server_us"], each_us(sum(replicas), row["deliveries"]), row["client_us"])
    yield max(primaries) * half / sum(primaries) if sum(primaries) else None
    yield from (row.get("trips"), row.get("replicated_bytes"))


def reads(record: Record) -> Table:
    """Pages of 20 from full timelines."""
    rows = []
    for name in dict.fromkeys(map(name_of, record.reads)):
        reads = {read["read"]: read for read in record.reads if name_of(read) == name}
        figures = [_rate_and_us(reads.get(read, {}), "reads_per_s") for read in READS]
        rows.append([name, *chain.from_iterable(figures)])
    head = [label for read in READS for label in (f"{read}/s", "client + server µs")]
    return Table("Reads of 20 posts", ["store", *head], rows)


def requests(record: Record) -> Table:
    """What requests cost the servers, against gunicorn alone."""
    whole_us: dict[str, float] = {}
    rows = []
    for row in record.requests:
        each = [row.get(f"{role}_us") for role in ("web", "proxy", "redis")]
        whole = sum(filter(None, each))
        plain = whole_us.setdefault(row["request"], whole)
        figures = map(number, (row["bytes"], *each))
        server = row.get("server", GUNICORN)
        rows.append([row["request"], server, *figures, f"{whole / plain:.2f}"])
    head = ["request", "server", "bytes", "app server µs", "proxy µs", "Redis µs", "of gunicorn's"]
    return Table("A post, and a feed of 20 posts from ring: CPU by app server", head, rows)


def beside(record: Record) -> Table:
    """The floors of the servers, and the ways of other systems."""
    rows = [
        [_beside(row), *(number(row[cost]) for cost in COSTS)]
        for row in record.rows
        if row["kind"] != "store"
    ]
    head = ["what", "deliveries or commands/s", "client µs", "server µs"]
    return Table("Floors, and other systems' ways", head, rows)


def whole(record: Record, grid: Grid) -> Table:
    """Deliveries/s of all cells."""
    head = ["store", "people", "friends", *(f"batches of {batch}" for batch in grid.batch)]
    rows = [
        [name, f"{people:,}", f"{friends:,}", *_rates(cells, grid)]
        for people, friends in grid.graphs
        for name, cells in by_store(record.rows, people=people, friends=friends).items()
    ]
    return Table("Deliveries/s in all cells", head, sorted(rows, key=lambda row: row[0]))


def by_store(rows: Sequence[Row], **where: int) -> dict[str, dict[int, Row]]:
    """Return the stores' rows at a place of the grid, by name and then by batch."""
    found: dict[str, dict[int, Row]] = {}
    for row in rows:
        if row["kind"] == "store" and all(row[name] == it for name, it in where.items()):
            found.setdefault(name_of(row), {})[row["batch"]] = row
    return found


def name_of(row: Row) -> str:
    """Return what a store is called beside others."""
    return row["store"] if row["database"] == "none" else f"{row['database']}-{row['store']}"


def _costs(cells: dict[int, Row], grid: Grid) -> Iterator[str]:
    for batch in grid.base_batches:
        yield from _rate_and_us(cells.get(batch, {}), "deliveries_per_s")


def _rates(cells: dict[int, Row], grid: Grid) -> Iterator[str]:
    return (number(cells.get(batch, {}).get("deliveries_per_s")) for batch in grid.batch)


def _rate_and_us(row: Row, rate: str) -> tuple[str, str]:
    costs = (row.get("client_us"), row.get("server_us"))
    us = " + ".join(number(cost) for cost in costs if cost is not None)
    return number(row.get(rate)), us or "-"


def _beside(row: Row) -> str:
    at = [f"{row[name]:,} {name}" for name in ("people", "friends") if row[name]]
    batch = [f"batches of {row['batch']}"] if row["batch"] else []
    why = [f"not measured: {row['not_measured']}"] if "not_measured" in row else []
    return ", ".join([row["store"], *at, *batch, *why])

"""The figures of a bench as tables."""

from collections.abc import Iterator, Sequence
from typing import Any

from lab.bench.record import Record, each_us
from lab.bench.targets import Grid
from lab.reporting.formats import number
from lab.reporting.page import Table
from launch.variants import GUNICORN

READS = ("first page", "deep page", "hydrated")
Row = dict[str, Any]


def tables(record: Record, grid: Grid) -> list[Table]:
    """Return those that have something to show."""
    every = [
        compared(record, grid),
        clusters(record),
        reads(record),
        requests(record),
        whole(record, grid),
    ]
    return [table for table in every if table.rows]


def compared(record: Record, grid: Grid) -> Table:
    """The stores at the base of the grid."""
    people, friends = grid.base
    head = ["store"]
    for batch in grid.base_batches:
        head += [f"batches of {batch}", "client + server µs"]
    rows = []
    for name, cells in by_store(record.rows, people=people, friends=friends).items():
        costs = [_rate_and_us(cells.get(batch, {})) for batch in grid.base_batches]
        entry_bytes = number(next(iter(cells.values()))["bytes_per_entry"])
        rows.append([name, *sum(costs, ()), entry_bytes])
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
    by_name: dict[str, dict[str, Row]] = {}
    for row in record.reads:
        by_name.setdefault(name_of(row), {})[row["read"]] = row
    rows = [
        [name, *sum((_rate_and_us(of_store.get(read, {})) for read in READS), ())]
        for name, of_store in by_name.items()
    ]
    head = [label for read in READS for label in (f"{read}/s", "client + server µs")]
    return Table("Reads of 20 posts", ["store", *head], rows)


def requests(record: Record) -> Table:
    """What requests cost the servers, against gunicorn alone."""
    gunicorn_us: dict[str, float] = {}
    rows = []
    for row in record.requests:
        each = [row.get(f"{role}_us") for role in ("web", "proxy", "redis")]
        whole_us = sum(filter(None, each))
        plain_us = gunicorn_us.setdefault(row["request"], whole_us)
        figures = map(number, (row["bytes"], *each))
        server = row.get("server", GUNICORN)
        rows.append([row["request"], server, *figures, f"{whole_us / plain_us:.2f}"])
    head = ["request", "server", "bytes", "app server µs", "proxy µs", "Redis µs", "of gunicorn's"]
    return Table("A post, and a feed of 20 posts from ring: CPU by app server", head, rows)


def whole(record: Record, grid: Grid) -> Table:
    """Deliveries/s of all cells."""
    rows = [
        [name, f"{people:,}", f"{friends:,}"]
        + [number(cells.get(batch, {}).get("deliveries_per_s")) for batch in grid.batch]
        for people, friends in grid.graphs
        for name, cells in by_store(record.rows, people=people, friends=friends).items()
    ]
    head = ["store", "people", "friends", *(f"batches of {batch}" for batch in grid.batch)]
    return Table("Deliveries/s in all cells", head, sorted(rows, key=lambda row: row[0]))


def by_store(rows: Sequence[Row], **where: int) -> dict[str, dict[int, Row]]:
    """Return the stores' rows at a place of the grid, by name and then by batch."""
    found: dict[str, dict[int, Row]] = {}
    for row in rows:
        if row["kind"] == "store" and all(row[axis] == value for axis, value in where.items()):
            found.setdefault(name_of(row), {})[row["batch"]] = row
    return found


def name_of(row: Row) -> str:
    """Return what a store is called beside others."""
    return row["store"] if row["database"] == "none" else f"{row['database']}-{row['store']}"


def _rate_and_us(row: Row) -> tuple[str, ...]:
    """Return the deliveries or reads per second, and their CPU time."""
    rate = row.get("deliveries_per_s", row.get("reads_per_s"))
    costs = (row.get("client_us"), row.get("server_us"))
    us = " + ".join(number(cost) for cost in costs if cost is not None)
    return number(rate), us or "-"

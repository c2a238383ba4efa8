"""The results of a bench, written to disk as soon as they exist."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lab.bench.site import Measurement
from lab.bench.targets import Target

FILE = "bench.json"


class Record:
    """The rows, reads, requests and failures of a run; ``bench.json`` has them at any time."""

    def __init__(self, out: Path, environment: dict[str, Any]) -> None:
        self.out = out
        self.environment = environment
        self.rows: list[dict[str, Any]] = []
        self.reads: list[dict[str, Any]] = []
        self.requests: list[dict[str, Any]] = []
        self.checks: list[dict[str, Any]] = []
        self.failures: list[str] = []
        out.mkdir(parents=True, exist_ok=True)

    @classmethod
    def read(cls, folder: Path) -> "Record":
        """Return what an earlier run left in its folder. Raises ValueError if it is malformed."""
        try:
            content = json.loads((folder / FILE).read_text())
            record = cls(folder, content.pop("environment"))
        except (KeyError, ValueError) as error:
            raise ValueError(f"{folder / FILE} is not a record of the bench: {error!r}") from error
        vars(record).update(content)
        return record

    def add_row(self, row: dict[str, Any]) -> None:
        self.rows.append(row)
        self.write()

    def add_read(self, target: Target, figures: dict[str, Any], server_s: float | None) -> None:
        count = figures["reads"]
        self.reads.append(
            {
                "store": target.label,
                "database": target.database,
                "read": figures["read"],
                "reads_per_s": rate(count, figures["wall_s"]),
                "client_us": each_us(figures["client_s"], count),
                "server_us": each_us(server_s, count),
            }
        )
        self.write()

    def add_request(
        self, name: str, server: str, size: int, count: int, used_s: Mapping[str, float]
    ) -> None:
        """Record what a number of requests cost by role, and the bytes of an answer."""
        figures = {f"{role}_us": each_us(seconds, count) for role, seconds in used_s.items()}
        self.requests.append({"request": name, "server": server, "bytes": size, **figures})
        self.write()

    def add_check(self, target: Target, figures: dict[str, Any]) -> None:
        """Record a check result, and which store failed it."""
        self.checks.append({"store": target.label, "database": target.database, **figures})
        if not figures["ok"]:
            counts = ", ".join(
                f"{figures[kind]} {kind}" for kind in ("missing", "duplicated", "unexpected")
            )
            at = f"{figures['people']:,} people, {figures['friends']:,} friends each"
            self.failures.append(f"{target.name}: {counts} of {figures['expected']} at {at}")
        self.write()

    def fail(self, name: str, error: Exception) -> None:
        self.failures.append(f"{name}: {error}")
        self.write()

    def write(self) -> None:
        names = ("environment", "rows", "reads", "requests", "checks", "failures")
        content = {name: getattr(self, name) for name in names}
        (self.out / FILE).write_text(json.dumps(content, indent=1) + "\n")


def row(
    kind: str,
    store: str,
    figures: dict[str, Any],
    server_s: float | None,
    *,
    database: str = "none",
    bytes_per_entry: float | None = None,
) -> dict[str, Any]:
    """Return deliveries and seconds as a row: rates, and CPU in µs per delivery.

    What wasn't measured, or what there is none of, is None.
    """
    count = figures["deliveries"]
    return {
        "store": store,
        **{name: figures.get(name) for name in ("people", "friends", "batch")},
        "deliveries_per_s": rate(count, figures["wall_s"]),
        "client_us": each_us(figures["client_s"], count),
        "server_us": each_us(server_s, count),
        "bytes_per_entry": bytes_per_entry and round(bytes_per_entry, 2),
        "database": database,
        "kind": kind,
        "deliveries": count,
        "wall_s": figures["wall_s"] and round(figures["wall_s"], 4),
    }


def not_measured(kind: str, store: str, why: str, *, database: str) -> dict[str, Any]:
    """Return a row without figures that says why it has none."""
    figures = {"deliveries": 0, "wall_s": None, "client_s": None}
    return row(kind, store, figures, None, database=database) | {"not_measured": why}


def cell_row(
    target: Target, measurement: Measurement, bytes_per_entry: float | None
) -> dict[str, Any]:
    return row(
        target.kind,
        target.label,
        measurement.figures,
        target.server_s(measurement.cpu_s),
        database=target.database,
        bytes_per_entry=bytes_per_entry,
    ) | _nodes(target, measurement)


def _nodes(target: Target, measurement: Measurement) -> dict[str, Any]:
    """Return what is known of a cluster: the CPU time of each node, its primaries first; round
    trips to a primary per batch; and bytes that the replicas were sent per delivery.
    """
    figures = measurement.figures
    if not target.primaries or not figures["deliveries"]:
        return {}
    roles = [f"node{number}" for number in range(1, 2 * target.primaries + 1)]
    return {
        "nodes_s": [round(measurement.cpu_s[role], 4) for role in roles],
        "trips": round(figures["trips"] / figures["batches"] / target.primaries, 3),
        "replicated_bytes": round(figures["replicated"] / figures["deliveries"], 2),
    }


def rate(count: int, wall_s: float | None) -> float | None:
    return round(count / wall_s, 1) if wall_s else None


def each_us(seconds: float | None, count: int) -> float | None:
    return round(seconds * 1e6 / count, 4) if seconds is not None and count else None

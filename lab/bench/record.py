"""The results of a bench, written to disk as soon as they exist."""

import json
from pathlib import Path
from typing import Any

from lab.bench.site import Measurement
from lab.bench.targets import Grid, Target

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

    def add(self, target: Target, measurement: Measurement, entry_bytes: float | None) -> None:
        """Record what a target's process measured: a cell, a read or a check."""
        figures = measurement.figures
        name = {"store": target.label, "database": target.database}
        if measurement.kind == "cell":
            self.rows.append(_cell(target, measurement, entry_bytes))
        elif measurement.kind == "read":
            count = figures["reads"]
            costs = {
                "reads_per_s": rate(count, figures["wall_s"]),
                "client_us": each_us(figures["client_s"], count),
                "server_us": each_us(target.server_s(measurement.cpu_s), count),
            }
            self.reads.append(name | {"read": figures["read"]} | costs)
        elif measurement.kind == "check":
            self.checks.append(name | figures)
            if not figures["ok"]:
                self.failures.append(f"{target.name}: {_findings(figures)}")
        self.write()

    def write(self) -> None:
        names = ("environment", "rows", "reads", "requests", "checks", "failures")
        content = {name: getattr(self, name) for name in names}
        (self.out / FILE).write_text(json.dumps(content, indent=1) + "\n")


def _cell(target: Target, measurement: Measurement, entry_bytes: float | None) -> dict[str, Any]:
    """Return deliveries and seconds as a row: rates, and CPU in µs per delivery.

    What wasn't measured, or what there is none of, is None.
    """
    figures = measurement.figures
    count, wall_s = figures["deliveries"], figures["wall_s"]
    return {
        "store": target.label,
        **{name: figures[name] for name in Grid._fields},
        "deliveries_per_s": rate(count, wall_s),
        "client_us": each_us(figures["client_s"], count),
        "server_us": each_us(target.server_s(measurement.cpu_s), count),
        "bytes_per_entry": entry_bytes and round(entry_bytes, 2),
        "database": target.database,
        "kind": "store",
        "deliveries": count,
        "wall_s": wall_s and round(wall_s, 4),
        **_nodes(target, measurement),
    }


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


def _findings(check: dict[str, Any]) -> str:
    counts = ", ".join(f"{check[kind]} {kind}" for kind in ("missing", "duplicated", "unexpected"))
    at = f"{check['people']:,} people, {check['friends']:,} friends each"
    return f"{counts} of {check['expected']} at {at}"


def rate(count: int, wall_s: float | None) -> float | None:
    return round(count / wall_s, 1) if wall_s else None


def each_us(seconds: float | None, count: int) -> float | None:
    return round(seconds * 1e6 / count, 4) if seconds is not None and count else None

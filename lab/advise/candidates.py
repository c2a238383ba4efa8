"""The ways to run the service that were measured, and what they cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from lab.advise.cells import Cells
from lab.advise.queues import QueueCost, queue_costs
from lab.bench.record import FILE as BENCH
from lab.bench.record import Record
from lab.bench.requests import FEED, POST
from lab.bench.targets import Grid
from lab.experiments import EXPERIMENTS
from lab.experiments.mixed.costs import ROLES, Costs, costs_of
from lab.results.result import FILE as RESULT
from lab.results.result import Result, read_results
from launch.variants import GUNICORN, Variant

SQL_LINGER_MS, REDIS_LINGER_MS = 100, 75
"""How long a drainer collects a batch (docs/decisions/0004)."""
RUN_BENCH = "python -m lab bench --people N --friends N"
RUN_MIXED = "python -m lab run mixed --people N --friends N --loads reads1,reads30"
RUN_THESE = f"{RUN_BENCH}; {RUN_MIXED} (docs/strangers-hour.md shows it for 50,000 people)"


class Source(NamedTuple):
    """Where figures came from."""

    folder: Path
    command: str
    calibration_ms: float


@dataclass(frozen=True)
class Candidate:
    """One variant on an app server, with CPU microseconds by role."""

    variant: str
    """Without the app server."""
    pulls: bool
    is_inline: bool
    uses_redis: bool
    post_us: Mapping[str, float]
    """Of one post, without its deliveries."""
    read_us: Mapping[str, float]
    """Of one page; of pull, without the merging."""
    base_cores: Mapping[str, float]
    """By role, what is used whatever the rate: a drainer looks for posts all the time."""
    friends: int
    """Of the runs that the read was measured with."""
    merged_us: Mapping[str, float]
    """Of pull: of one friend merged into a page."""
    cells: Cells | None = None
    """Costs of a delivery; None if there are none."""
    in_cluster: float | None = None
    """Times as much as a delivery costs one Redis, it costs the primaries of a cluster: of the
    largest cluster that was measured."""
    server: str = GUNICORN
    """Like granian+proxy."""

    @property
    def name(self) -> str:
        part = self.server.removeprefix(GUNICORN).removeprefix("+")
        return (
            f"{self.variant}{'+' if '@' in self.variant else '@'}{part}" if part else self.variant
        )

    @property
    def linger_ms(self) -> float:
        return REDIS_LINGER_MS if self.uses_redis else SQL_LINGER_MS

    def delivery_us(self, client_us: float, server_us: float) -> dict[str, float]:
        """Return who does the work of deliveries: client and server of the store."""
        client = "web" if self.is_inline else "workers"
        return {client: client_us, "redis" if self.uses_redis else "database": server_us}


class Server(NamedTuple):
    """An app server, like granian+proxy: by role, how many times as much CPU a request costs as it
    costs gunicorn alone."""

    name: str
    post: Mapping[str, float]
    read: Mapping[str, float]


class Measured(NamedTuple):
    """Everything that the advice is made from."""

    candidates: list[Candidate]
    """Each variant on each app server of the bench, or on gunicorn if it has none."""
    bench: Source
    mixed: list[Source]
    page_bytes: float | None
    left_out: list[str]
    started: frozenset[str]
    """When the runs started that the costs are from."""
    queues: Sequence[QueueCost] = ()
    queue_runs: Sequence[Source] = ()


def newest(below: Path, without: Path | None = None) -> list[Path]:
    """Return the newest bench, and the results of mixed of the newest commit. Raises ValueError."""
    folders = sorted(filter(Path.is_dir, below.glob("*")), key=lambda path: path.stat().st_mtime)
    benches = [folder for folder in folders if (folder / BENCH).exists()]
    commits = {
        folder: runs[-1].environment["commit"]
        for folder in folders
        if not (without and folder.samefile(without)) and (runs := _runs_of(folder, "mixed"))
    }
    if not benches or not commits:
        missing = RUN_THESE if not (benches or commits) else RUN_MIXED if benches else RUN_BENCH
        raise ValueError(f"no costs below {below}; measure them first: {missing}")
    newest_commit = list(commits.values())[-1]
    queues = [folder for folder in folders if _runs_of(folder, "queues")][-1:]
    of_newest = [folder for folder, commit in commits.items() if commit == newest_commit]
    return [benches[-1], *of_newest, *(queue for queue in queues if queue not in of_newest)]


def measured(folders: Sequence[Path]) -> Measured:
    """Return the costs in a folder of a bench, in those of mixed and, if there are any, of queues.

    Raises ValueError.
    """
    benches = [folder for folder in folders if (folder / BENCH).exists()]
    runs = {folder: _runs_of(folder, "mixed") for folder in folders if folder not in benches}
    queues = {folder: found for folder in runs if (found := _runs_of(folder, "queues"))}
    if len(benches) != 1 or not any(runs.values()):
        raise ValueError(f"--costs needs one bench and one or more of mixed: {RUN_THESE}")
    record = Record.read(benches[0])
    every = [run for of_folder in runs.values() for run in of_folder]
    # What other servers cost is the bench's to say.
    costs = [
        cost
        for cost in costs_of(every)
        if (variant := _variant(cost)).server == GUNICORN and not variant.is_proxied
    ]
    if not costs:
        raise ValueError(f"no usable run of mixed in {', '.join(map(str, runs))}: {RUN_MIXED}")
    candidates, left_out = [], []
    for cost in costs:
        try:
            candidates.append(_candidate(cost, costs, record))
        except ValueError as error:
            left_out.append(str(error))
    pages = [request["bytes"] for request in record.requests if request["request"] == FEED.name]
    return Measured(
        [served(candidate, server) for candidate in candidates for server in _servers(record)],
        bench=Source(
            benches[0],
            record.environment["command"],
            float(record.environment["calibration_ms"]),
        ),
        mixed=_sources(runs),
        page_bytes=pages[0] if pages else None,
        left_out=left_out,
        started=frozenset(run.started_at for run in every),
        queues=queue_costs(run for of_folder in queues.values() for run in of_folder),
        queue_runs=_sources(queues),
    )


def served(candidate: Candidate, server: Server) -> Candidate:
    """Return a candidate, which is on gunicorn alone, on a server."""

    def on_server(us: Mapping[str, float], times: Mapping[str, float]) -> dict[str, float]:
        return {**us, **{role: us.get("web", 0.0) * factor for role, factor in times.items()}}

    return replace(
        candidate,
        server=server.name,
        post_us=on_server(candidate.post_us, server.post),
        read_us=on_server(candidate.read_us, server.read),
    )


def _servers(record: Record) -> list[Server]:
    us = {
        (request["server"], request["request"]): request
        for request in record.requests
        if "server" in request
    }

    def times(server: str, request: str) -> dict[str, float]:
        alone_us = us[GUNICORN, request]["web_us"]
        return {
            role: us[server, request].get(f"{role}_us", 0.0) / alone_us for role in ("web", "proxy")
        }

    names = dict.fromkeys(server for server, _ in us)
    found = [Server(name, times(name, POST.name), times(name, FEED.name)) for name in names]
    return found or [Server(GUNICORN, {}, {})]


def _candidate(costs: Costs, every: Sequence[Costs], record: Record) -> Candidate:
    """Return the variant with its deliveries taken out of its posts. Raises ValueError."""
    variant = _variant(costs)
    strategy, store = variant.strategy_flags, variant.store_flags
    if not store.is_healing:
        raise ValueError(f"{costs.variant}: what its store loses stays lost")
    if variant.settings or not strategy.needs_drainer:
        raise ValueError(f"{costs.variant}: the model has inline, outbox and pull only")
    candidate = Candidate(
        costs.variant,
        pulls=store.is_computed_on_read,
        is_inline=strategy.writes_with_post,
        uses_redis=store.needs_redis,
        post_us=costs.post_us,
        read_us=costs.read_us,
        base_cores=costs.base_cores,
        friends=costs.friends,
        merged_us=dict.fromkeys(ROLES, 0.0),
    )
    if candidate.pulls:
        return _without_merging(candidate, costs, every)
    database = variant.name.partition("-")[0] if store.is_transactional else "none"
    place = {"kind": "store", "store": variant.store, "database": database}
    cells = Cells(variant.store, [row for row in record.rows if place.items() <= row.items()])
    lingering = costs.posts_per_s * candidate.linger_ms / 1000
    batch = 1.0 if candidate.is_inline else max(1.0, lingering)
    delivery = cells.delivery(costs.people, costs.friends, batch)
    taken = candidate.delivery_us(delivery.client_us, delivery.server_us)
    post_us = {
        role: max(0.0, us - (costs.friends + 1) * taken.get(role, 0.0))
        for role, us in costs.post_us.items()
    }
    in_cluster = in_largest_cluster(cells, record.rows)
    return replace(candidate, post_us=post_us, cells=cells, in_cluster=in_cluster)


def in_largest_cluster(cells: Cells, rows: Sequence[dict[str, Any]]) -> float | None:
    """Return the median ratio over the cells that both were measured at; None without any."""
    name = f"{cells.store}@cluster"
    us_in_cluster = {
        (int(row["store"].removeprefix(name)), _place(row)): row["server_us"]
        for row in rows
        if row["store"].startswith(name) and row["server_us"]
    }
    largest = max((primaries for primaries, _ in us_in_cluster), default=0)
    ratios = [
        us_in_cluster[largest, _place(row)] / row["server_us"]
        for row in cells.rows
        if (largest, _place(row)) in us_in_cluster
    ]
    return median(ratios) if ratios else None


def _without_merging(pull: Candidate, costs: Costs, every: Sequence[Costs]) -> Candidate:
    """Return pull with its read split in two: a page of a timeline, and the friends merged.

    The page is that of the push variant of the same runs whose timelines are in the database too,
    with or without a cache of posts as pull's, or of the cheapest.
    """
    seed = (costs.graph, costs.people, costs.friends)
    alike = [
        (other, _variant(other))
        for other in every
        if (other.graph, other.people, other.friends) == seed
        and not _variant(other).store_flags.is_computed_on_read
    ]
    if not alike:
        raise ValueError(f"{costs.variant}: no push variant was measured beside it")
    caches = _variant(costs).caches
    sql = [
        (other, variant)
        for other, variant in alike
        if not variant.store_flags.needs_redis and variant.caches == caches
    ]
    page = min((other.read_us for other, _ in sql or alike), key=lambda us: sum(us.values()))
    page_us = {role: min(us, page.get(role, 0.0)) for role, us in costs.read_us.items()}
    merged_us = {role: (us - page_us[role]) / costs.friends for role, us in costs.read_us.items()}
    return replace(pull, read_us=page_us, merged_us=merged_us)


def _variant(costs: Costs) -> Variant:
    return EXPERIMENTS["mixed"].variant(costs.variant)


def _place(row: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple(row[axis] for axis in Grid._fields)


def _runs_of(folder: Path, experiment: str) -> list[Result]:
    if not any(folder.rglob(RESULT)):
        return []
    return [result for result in read_results(folder) if result.experiment == experiment]


def _command(runs: Sequence[Result]) -> str:
    """Return the command that repeats all of these runs, from that of the first."""
    command = str(runs[0].environment["command"])
    for option, names in (
        ("--variants", [run.variant for run in runs]),
        ("--loads", [run.load for run in runs]),
    ):
        all_of_them = ",".join(dict.fromkeys(names))
        command = command.replace(f"{option} {names[0]}", f"{option} {all_of_them}")
    return command


def _sources(runs: Mapping[Path, Sequence[Result]]) -> list[Source]:
    return [
        Source(
            folder,
            _command(of_folder),
            median(float(run.environment["calibration_ms"]) for run in of_folder),
        )
        for folder, of_folder in runs.items()
        if of_folder
    ]

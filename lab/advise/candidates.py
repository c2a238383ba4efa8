"""The ways to run the service that were measured, and what they cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from lab.advise.cells import Cells
from lab.bench.record import FILE as BENCH
from lab.bench.record import Record
from lab.bench.requests import FEED, POST
from lab.bench.targets import Grid
from lab.experiments import EXPERIMENTS
from lab.experiments.mixed.costs import ROLES, Costs, costs_of
from lab.results.result import FILE as RESULT
from lab.results.result import Result, read_results
from launch.variants import GUNICORN

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

    def __str__(self) -> str:
        return f"{self.folder}: {self.command}"


@dataclass(frozen=True)
class Candidate:
    """One variant, with CPU microseconds by role."""

    name: str
    pulls: bool
    is_inline: bool
    uses_redis: bool
    post_us: Mapping[str, float]
    """Of one post, without its deliveries."""
    read_us: Mapping[str, float]
    """Of one page; of pull, without the merging."""
    merged_us: Mapping[str, float]
    """Of pull: of one friend merged into a page."""
    base_cores: Mapping[str, float]
    """By role, what is used whatever the rate: a drainer looks for posts all the time."""
    friends: int
    """Of the runs that the read was measured with."""
    cells: Cells | None
    """Costs of a delivery; None if there are none."""
    in_cluster: float | None = None
    """Times as much as a delivery costs one Redis, it costs the primaries of a cluster: of the
    largest cluster that was measured."""

    @property
    def linger_ms(self) -> float:
        return REDIS_LINGER_MS if self.uses_redis else SQL_LINGER_MS


class Server(NamedTuple):
    """An app server, like granian+proxy: by role, how many times as much CPU a request costs as it
    costs gunicorn alone."""

    name: str
    post: Mapping[str, float]
    read: Mapping[str, float]


ALONE = Server(GUNICORN, {"web": 1.0}, {"web": 1.0})


class Measured(NamedTuple):
    """Everything that the advice is made from."""

    candidates: list[Candidate]
    """On gunicorn alone."""
    servers: list[Server]
    """Of a bench that has no others, gunicorn only."""
    bench: Source
    mixed: list[Source]
    page_bytes: float | None
    left_out: list[str]
    started: frozenset[str]
    """When the runs started that the costs are from."""

    @property
    def sources(self) -> list[Source]:
        return [self.bench, *self.mixed]


def newest(below: Path, without: Path | None = None) -> list[Path]:
    """Return the newest bench, and the results of mixed of the newest commit. Raises ValueError."""
    folders = sorted(
        filter(Path.is_dir, below.glob("*")), key=lambda folder: folder.stat().st_mtime
    )
    benches = [folder for folder in folders if (folder / BENCH).exists()]
    others = [folder for folder in folders if not without or folder.resolve() != without.resolve()]
    commits = {
        folder: results[-1].environment["commit"]
        for folder in others
        if (results := [result for result in _results(folder) if result.experiment == "mixed"])
    }
    if not benches or not commits:
        missing = RUN_THESE if not (benches or commits) else RUN_MIXED if benches else RUN_BENCH
        raise ValueError(f"no costs below {below}; measure them first: {missing}")
    newest_commit = list(commits.values())[-1]
    return [benches[-1], *(folder for folder, commit in commits.items() if commit == newest_commit)]


def measured(folders: Sequence[Path]) -> Measured:
    """Return the costs in a folder of a bench and in those of mixed. Raises ValueError."""
    benches = [folder for folder in folders if (folder / BENCH).exists()]
    others = [folder for folder in folders if folder not in benches]
    results = {folder: _results(folder) for folder in others}
    if len(benches) != 1 or not any(results.values()):
        raise ValueError(f"--costs needs one bench and one or more of mixed: {RUN_THESE}")
    record = Record.read(benches[0])
    bench = _source(benches[0], record.environment)
    every = [result for runs in results.values() for result in runs if result.experiment == "mixed"]
    costs = [cost for cost in costs_of(every) if _is_on_gunicorn(cost)]
    if not costs:
        raise ValueError(f"no usable run of mixed in {', '.join(map(str, others))}: {RUN_MIXED}")
    candidates, left_out = [], []
    for cost in costs:
        try:
            candidates.append(_candidate(cost, costs, record))
        except ValueError as error:
            left_out.append(str(error))
    pages = [request["bytes"] for request in record.requests if request["request"] == FEED.name]
    mixed = [
        Source(folder, _command(runs), _calibration(runs))
        for folder, runs in results.items()
        if runs
    ]
    started = frozenset(result.started_at for result in every)
    page_bytes, servers = pages[0] if pages else None, _servers(record)
    return Measured(candidates, servers, bench, mixed, page_bytes, left_out, started)


def _is_on_gunicorn(costs: Costs) -> bool:
    """Return whether its name says no other server; what those cost is the bench's to say."""
    variant = EXPERIMENTS["mixed"].variant(costs.variant)
    return variant.server == GUNICORN and not variant.is_proxied


def _servers(record: Record) -> list[Server]:
    us = {
        (request["server"], request["request"]): request
        for request in record.requests
        if "server" in request
    }
    return [
        Server(
            name,
            *(
                _times(us[name, request.name], us[GUNICORN, request.name])
                for request in (POST, FEED)
            ),
        )
        for name in dict.fromkeys(server for server, _ in us)
    ] or [ALONE]


def _times(request: Mapping[str, float], alone: Mapping[str, float]) -> dict[str, float]:
    return {role: request.get(f"{role}_us", 0.0) / alone["web_us"] for role in ("web", "proxy")}


def served(candidate: Candidate, server: Server) -> Candidate:
    """Return a candidate, which is on gunicorn alone, on another server."""

    def on_server(us: Mapping[str, float], times: Mapping[str, float]) -> dict[str, float]:
        return {**us, **{role: us.get("web", 0.0) * factor for role, factor in times.items()}}

    return replace(
        candidate,
        name=_served_by(candidate.name, server.name),
        post_us=on_server(candidate.post_us, server.post),
        read_us=on_server(candidate.read_us, server.read),
    )


def _served_by(name: str, server: str) -> str:
    """Return the name of a variant on an app server; ``name`` says nothing of them."""
    parts = server.removeprefix(GUNICORN).removeprefix("+")
    return f"{name}{'+' if '@' in name else '@'}{parts}" if parts else name


def _candidate(costs: Costs, every: Sequence[Costs], record: Record) -> Candidate:
    """Return the variant with its deliveries taken out of its posts. Raises ValueError."""
    variant = EXPERIMENTS["mixed"].variant(costs.variant)
    flags, pulls = variant.strategy_flags, variant.store_flags.is_computed_on_read
    if not variant.store_flags.is_healing:
        raise ValueError(f"{costs.variant}: what its store loses stays lost")
    if variant.settings or not flags.needs_drainer:
        raise ValueError(f"{costs.variant}: the model has inline, outbox and pull only")
    about = Candidate(
        costs.variant,
        pulls=pulls,
        is_inline=flags.writes_with_post,
        uses_redis=variant.store_flags.needs_redis,
        post_us=costs.post_us,
        read_us=costs.read_us,
        merged_us=dict.fromkeys(ROLES, 0.0),
        base_cores=costs.base_cores,
        friends=costs.friends,
        cells=None,
    )
    if pulls:
        return _without_merging(about, costs, every)
    database = variant.name.partition("-")[0] if variant.store_flags.is_transactional else "none"
    rows = [
        row
        for row in record.rows
        if (row["kind"], row["store"], row["database"]) == ("store", variant.store, database)
    ]
    cells = Cells(variant.store, rows)
    batch = 1.0 if about.is_inline else max(1.0, costs.posts_per_s * about.linger_ms / 1000)
    delivery = cells.delivery(costs.people, costs.friends, batch)
    taken = by_role(about, delivery.client_us, delivery.server_us)
    post_us = {
        role: max(0.0, us - (costs.friends + 1) * taken.get(role, 0.0))
        for role, us in costs.post_us.items()
    }
    return replace(about, post_us=post_us, cells=cells, in_cluster=_in_cluster(cells, record.rows))


def _in_cluster(cells: Cells, rows: Sequence[dict[str, Any]]) -> float | None:
    """Return the median ratio over the cells that both were measured at; None without any."""
    name = f"{cells.store}@cluster"
    us_in_cluster = {
        (int(row["store"].removeprefix(name)), *(row[axis] for axis in Grid._fields)): row[
            "server_us"
        ]
        for row in rows
        if row["store"].startswith(name) and row["server_us"]
    }
    largest = max((primaries for primaries, *_ in us_in_cluster), default=0)
    ratios = [
        us_in_cluster[at] / row["server_us"]
        for row in cells.rows
        if (at := (largest, *place_of(row))) in us_in_cluster
    ]
    return median(ratios) if ratios else None


def place_of(row: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple(row[axis] for axis in Grid._fields)


def by_role(candidate: Candidate, client_us: float, server_us: float) -> dict[str, float]:
    """Return who does the work of deliveries: client and server of the store."""
    client = "web" if candidate.is_inline else "workers"
    return {client: client_us, "redis" if candidate.uses_redis else "database": server_us}


def _without_merging(pull: Candidate, costs: Costs, every: Sequence[Costs]) -> Candidate:
    """Return pull with its read split in two: a page of a timeline, and the friends merged.

    The page is that of the push variant of the same runs whose timelines are in the database too,
    with or without a cache of posts as pull's, or of the cheapest.
    """
    variant_of = EXPERIMENTS["mixed"].variant
    alike = [
        cost
        for cost in every
        if (cost.graph, cost.people, cost.friends) == (costs.graph, costs.people, costs.friends)
        and not variant_of(cost.variant).store_flags.is_computed_on_read
    ]
    if not alike:
        raise ValueError(f"{costs.variant}: no push variant was measured beside it")
    caches = variant_of(costs.variant).caches
    sql = [
        cost
        for cost in alike
        if not variant_of(cost.variant).store_flags.needs_redis
        and variant_of(cost.variant).caches == caches
    ]
    page = min(sql or alike, key=lambda cost: sum(cost.read_us.values())).read_us
    merged = {
        role: max(0.0, us - page.get(role, 0.0)) / costs.friends
        for role, us in costs.read_us.items()
    }
    page_us = {role: us - merged[role] * costs.friends for role, us in costs.read_us.items()}
    return replace(pull, read_us=page_us, merged_us=merged)


def _command(results: Sequence[Result]) -> str:
    """Return the command that repeats all of these runs, from that of the first."""
    command = str(results[0].environment["command"])
    for option, names in (
        ("--variants", [result.variant for result in results]),
        ("--loads", [result.load for result in results]),
    ):
        all_of_them = ",".join(dict.fromkeys(names))
        command = command.replace(f"{option} {names[0]}", f"{option} {all_of_them}")
    return command


def _results(folder: Path) -> list[Result]:
    return list(read_results(folder)) if any(folder.rglob(RESULT)) else []


def _calibration(results: Sequence[Result]) -> float:
    return median(float(result.environment["calibration_ms"]) for result in results)


def _source(folder: Path, environment: Mapping[str, object]) -> Source:
    return Source(folder, str(environment["command"]), float(str(environment["calibration_ms"])))

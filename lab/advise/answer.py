"""The advice: what is cheapest, what it needs, what breaks first, and whom to pull."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import ceil, inf

from lab.advise.candidates import RUN_THESE, Measured
from lab.advise.cells import Delivery, NotMeasured
from lab.advise.model import (
    TIE,
    Needs,
    advised,
    crossover,
    most_readers_in,
    needs,
    rate_at,
    reads_to_push_for,
)
from lab.advise.situation import Situation
from lab.experiments.mixed.costs import ROLES
from lab.reporting.formats import measured as figure
from lab.reporting.formats import number
from lab.reporting.page import Table
from launch.variants import GUNICORN, PROXIED

GIB = 2**30
BENCH = "bench"
MIXED = "mixed"
QUEUES = "queues"
BOTH = f"{MIXED} + {BENCH}"
TIMES_SLOWER = 1.25
NO_SERVERS = (
    "{folder} has no costs by app server, so this is for gunicorn; to compare, run {command} with "
    "ring among its --stores"
)
PUBLIC = (
    " If the service is public, arrivals can exceed what holds: take {name} ({cores} cores), whose "
    "proxy refuses the rest early."
)
MEASURED_PRIMARIES = 8
SMALL = 0.01
"""A role with a smaller share of the cores is left out."""
FAR = 20
"""Times the peak: what is full only beyond that can't matter."""


@dataclass(frozen=True)
class Advice:
    """The candidates compared for a situation."""

    situation: Situation
    measured: Measured
    every: list[Needs]
    """All candidates without a proxy, the one that needs fewest cores first."""
    kept_budget: list[Needs]
    """Those that keep the budget for lag, the advised one first."""
    proxied: Needs | None
    """The advised one behind a proxy, if that was measured."""
    remarks: list[str]

    @property
    def best(self) -> Needs:
        return self.kept_budget[0]

    @property
    def pull(self) -> Needs | None:
        """The pull variant that needs fewest cores, on the advised app server."""
        return self._cheapest(self.every, pulls=True)

    @property
    def push(self) -> Needs | None:
        """The push variant that needs fewest cores within the budget for lag, on that server."""
        return self._cheapest(self.kept_budget, pulls=False)

    def _cheapest(self, every: Iterable[Needs], *, pulls: bool) -> Needs | None:
        for needed in every:
            candidate = needed.candidate
            if candidate.pulls == pulls and candidate.server == self.best.candidate.server:
                return needed
        return None


def advise(situation: Situation, measured: Measured, *, calibration_ms: float) -> Advice:
    """Compare all candidates. Raises NotMeasured if there are no costs of a push variant."""
    known: dict[str, Needs] = {}
    unknown: dict[str, None] = {}
    for candidate in measured.candidates:
        try:
            known[candidate.name] = needs(candidate, situation)
        except NotMeasured as error:
            unknown[str(error)] = None
    if all(needed.candidate.pulls for needed in known.values()):
        raise NotMeasured([*unknown, *measured.left_out, f"no push was measured: {RUN_THESE}"][0])
    compared = [
        needed for needed in known.values() if not needed.candidate.server.endswith(PROXIED)
    ]
    kept_budget = advised(compared, situation.lag_ms)
    if not kept_budget:
        fastest = min(compared, key=lambda needed: needed.lag_ms)
        raise ValueError(
            f"nothing keeps --lag-ms {situation.lag_ms:g}: allow {ceil(fastest.lag_ms)}, which "
            f"{fastest.candidate.name} keeps"
        )
    best = kept_budget[0].candidate
    return Advice(
        situation,
        measured,
        every=sorted(compared, key=lambda needed: needed.total),
        kept_budget=kept_budget,
        proxied=known.get(replace(best, server=best.server + PROXIED).name),
        remarks=[*measured.left_out, *_doubts(measured, calibration_ms), *unknown],
    )


def _doubts(measured: Measured, now_ms: float) -> Iterator[str]:
    for source in (measured.bench, *measured.mixed):
        times = now_ms / source.calibration_ms
        if not 1 / TIMES_SLOWER <= times <= TIMES_SLOWER:
            speed = f"{times:.2f} times slower" if times > 1 else f"{1 / times:.2f} times faster"
            yield (
                f"this machine is {speed} now than when {source.folder} was measured: measure "
                "again, or read cores as those of then"
            )
    if {candidate.server for candidate in measured.candidates} == {GUNICORN}:
        bench = measured.bench
        yield NO_SERVERS.format(folder=bench.folder, command=bench.command)


def verdict(advice: Advice) -> str:
    best = advice.best
    name, server = best.candidate.name, best.candidate.server
    rest = [needed for needed in advice.kept_budget[1:] if needed.candidate.server == server]
    text = _first(best, rest[0]) if rest else f"Take {name}: {_cores(best)}."
    for needed in advice.every:
        other, ratio = needed.candidate, needed.total / best.total
        if needed.lag_ms > advice.situation.lag_ms and ratio < 1:
            text += f" {other.name} costs less, but its lag is {needed.lag_ms:.0f} ms."
        elif other.variant == best.candidate.variant and other.server != server:
            tie = f", a tie (below {TIE - 1:.0%}), so take the plainer one" if ratio < 1 else ""
            text += f" {other.name} needs {number(needed.total)} ({ratio:.2f} times as many{tie})."
    if proxied := advice.proxied:
        text += PUBLIC.format(name=proxied.candidate.name, cores=number(proxied.total))
    return text


def _first(best: Needs, following: Needs) -> str:
    """Return which of the best two to take."""
    name, ratio = best.candidate.name, following.total / best.total
    beside = f"{following.candidate.name} with {number(following.total)}"
    if ratio >= TIE:
        return f"Take {name}: {_cores(best)}. Next is {beside} ({ratio:.2f} times as many)."
    parts = f" (parts beside it, drainers and Redis: {best.parts}, not {following.parts})"
    simpler = parts if best.parts < following.parts else ""
    return (
        f"It is a tie: take the simpler one, {name}{simpler}. It needs {_cores(best)}, {beside}: "
        f"below {TIE - 1:.0%} apart."
    )


def _cores(needed: Needs) -> str:
    return f"{number(needed.total)} cores at 100 % busy"


def tables(advice: Advice) -> list[Table]:
    queues = [_queues(advice)] if advice.measured.queues else []
    return [_compared(advice), amounts(advice), _breaks(advice), _pulled(advice), *queues]


def sources(advice: Advice) -> list[str]:
    """Return what ``bench`` and ``mixed`` mean in the tables."""
    labelled = [
        (BENCH, advice.measured.bench),
        *((MIXED, run) for run in advice.measured.mixed),
        *((QUEUES, run) for run in advice.measured.queue_runs),
    ]
    return [
        f"{name}: {source.folder}: {source.command} (calibration {source.calibration_ms:g} ms)"
        for name, source in labelled
    ]


def _compared(advice: Advice) -> Table:
    head = ["variant", *ROLES[:4], "all", "posts per batch", "drainers", "lag ms", "from"]
    rows = [
        [
            needed.candidate.name,
            *(number(needed.cores[role]) for role in ROLES[:4]),
            number(needed.total),
            number(needed.batch) if needed.drainers else "-",
            str(needed.drainers or "-"),
            number(needed.lag_ms),
            _source_of(needed, advice.situation),
        ]
        for needed in advice.every
    ]
    return Table("Cores at the peak, 100 % busy", head, rows)


def _source_of(needed: Needs, situation: Situation) -> str:
    if needed.delivery is None:
        measured = f"{MIXED}, {needed.candidate.friends:,} friends"
        following = situation.following
        is_projected = following != needed.candidate.friends
        return f"{measured}, projected to {following:,.0f}" if is_projected else measured
    return f"{BOTH}, {needed.delivery.projected}" if needed.delivery.projected else BOTH


def amounts(advice: Advice) -> Table:
    """What the advised variant needs of everything."""
    situation, best = advice.situation, advice.best
    busy = f"at {situation.busy:.0%} busy"
    rows = [
        [f"cores, {role}", number(cores), f"{ceil(cores / situation.busy):,} {busy}", BOTH]
        for role, cores in best.cores.items()
        if cores >= SMALL * best.total
    ]
    rows += _timelines(advice)
    page, reads = advice.measured.page_bytes, f"{number(situation.reads_per_s)} pages/s"
    pages = figure(page and situation.reads_per_s * page / 1e6)
    rows.append(["network, pages out, MB/s", pages, reads, BENCH])
    count = f"{number(situation.deliveries_per_s)}/s" if best.delivery else "none"
    rows.append(["deliveries", count, "", "asked"])
    return Table(f"What {best.candidate.name} needs", ["what", "amount", "note", "from"], rows)


def _timelines(advice: Advice) -> Iterator[list[str]]:
    situation, candidate = advice.situation, advice.best.candidate
    if candidate.cells is None:
        yield ["timelines", "none", "computed on read", MIXED]
        return
    entry_bytes = candidate.cells.bytes_per_entry(situation.readers, situation.recipients)
    gib = entry_bytes and situation.readers * situation.kept * entry_bytes / GIB
    sizes = f"{number(situation.readers)} people by {number(entry_bytes)} bytes"
    place = "memory, Redis, GiB" if candidate.uses_redis else "disk, timelines, GiB"
    yield [place, figure(gib), f"{situation.kept:,} entries by {sizes}", BENCH]
    sent = figure(entry_bytes and situation.deliveries_per_s * entry_bytes / 1e6)
    yield ["network, into timelines (at least), MB/s", sent, "ids alone", BENCH]
    if candidate.uses_redis and gib is not None:
        yield _primaries(advice, gib)


def _primaries(advice: Advice, gib: float) -> list[str]:
    """Return how many primaries a Redis Cluster would need; one Redis suffices if that is 1."""
    situation, ratio = advice.situation, advice.best.candidate.in_cluster
    name, redis_cores = "primaries of a Redis Cluster", advice.best.cores["redis"]
    if ratio is None:
        stores = f"ring,ring@cluster{MEASURED_PRIMARIES}"
        return [name, "not measured", f"lab bench --stores {stores}", BENCH]
    by_cores = ceil(redis_cores / situation.busy)
    if by_cores > 1:
        by_cores = ceil(redis_cores * ratio / situation.busy)
    count = max(1, by_cores, ceil(gib / situation.node_gib))
    note = f"at {situation.busy:.0%} busy, {situation.node_gib:g} GiB each, and as many replicas"
    return [name, f"{count:,}", note, f"{BENCH}, projected"]


def _breaks(advice: Advice) -> Table:
    """The rates at which a part of the advised variant is full, lowest first."""
    peak = advice.situation.posts_per_s
    limits = sorted(_limits(advice), key=lambda limit: inf if limit[1] is None else limit[1])
    near = [limit for limit in limits if limit[1] is None or limit[1] <= FAR * peak]
    rows = [
        [part, figure(rate), "-" if rate is None else f"{rate / peak:.3g} times", BOTH]
        for part, rate in near or limits[:1]
    ]
    head = ["what is full", "posts/s", "of the peak", "from"]
    return Table("What breaks first, with the same reads per post", head, rows)


def _limits(advice: Advice) -> Iterator[tuple[str, float | None]]:
    """Yield each part and the rate at which it is full; None if that was not measured."""
    situation, candidate = advice.situation, advice.best.candidate
    drainers = 1 if advice.best.drainers else None

    def full(role: str, cores: float = 1) -> float | None:
        def used(at: Situation) -> float:
            return needs(candidate, at, drainers=drainers).cores[role]

        try:
            return rate_at(used, cores, situation)
        except NotMeasured:  # a smaller batch than any that was measured
            return None

    if drainers:
        yield "one drainer (a core; add drainers)", full("workers")
    if advice.best.cores["redis"]:
        yield "one Redis (a core: it has one thread; take a cluster)", full("redis")
    cores = situation.database_cores
    yield f"a database of {cores:g} cores (--database-cores)", full("database", cores)
    yield "one web core (add processes)", full("web")


def _pulled(advice: Advice) -> Table:
    """Whom to pull: by cost and by lag."""
    push = advice.push
    rows = list(_whom_to_pull(advice, push, push.delivery)) if push and push.delivery else []
    return Table("Whom to pull", ["what", "figure", "note", "from"], rows)


def _whom_to_pull(advice: Advice, push: Needs, delivery: Delivery) -> Iterator[list[str]]:
    situation, pull, cost = advice.situation, advice.pull, None
    reads_each = situation.reads_per_post / situation.active
    if pull:
        at, yours = crossover(pull, push, situation), f"you: {situation.reads_per_post:g}"
        reads = number(at) if at else "any"
        yield ["reads per post from which push is cheaper", reads, yours, BOTH]
        cost = reads_to_push_for(delivery, pull.candidate)
        what = "push to a reader who reads at least (per post of the author)"
        note = f"you: {number(reads_each)} on average; the number of readers cancels"
        yield [what, number(cost), note, BOTH]
    most = most_readers_in(situation.lag_ms, push, delivery) / situation.active
    is_late = situation.largest > most
    hint = f"FEED_PULL_ABOVE={most:.0f}" if is_late else "all can be pushed"
    note = f"largest: {situation.largest:,}: {hint}"
    readers = f"{most:,.0f}" if is_late else "nobody"
    yield ["pull authors above (readers; lag)", readers, note, BENCH]
    is_costly = cost is not None and reads_each < cost
    if is_costly or is_late:
        yield ["what binds", "cost" if is_costly else "lag", "", BOTH]


def _queues(advice: Advice) -> Table:
    """What each task queue costs more than a drainer on the same database."""
    posts_per_s = advice.situation.posts_per_s
    rows = [
        [cost.variant, number(cost.more_ms), number(cost.more_ms / 1000 * posts_per_s), QUEUES]
        for cost in advice.measured.queues
    ]
    head = ["variant", "CPU ms more per post", "cores more at the peak", "from"]
    return Table("A task queue instead of a drainer", head, rows)

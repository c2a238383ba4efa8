"""Browse: a listing that counts 48,000 likes per page, and what does and doesn't help it."""

import csv
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lab.experiments.base import Experiment, Measured, RunOptions
from lab.reporting.presentation import (
    CORES_BUSY,
    MEAN,
    OFFERED,
    P95,
    P99,
    SUCCESS,
    Column,
    Presentation,
    extra,
)
from lab.results.summary import Summary
from lab.running.load import Load
from launch.service import Seed
from launch.unknown import did_you_mean
from launch.variants import UnknownVariant
from replays.browse.ramp import SHAPES, Probe
from replays.browse.service import BrowseService, BrowseVariant
from replays.replication import Sight, everywhere_at, read_sights

HOLD_S = {"smoke": 5, "load": 8, "stress": 10}
"""Seconds with all users (published: 60)."""
RAMP_S = 2
FINISH_WITHIN_S = 10
"""Users who are asked to stop get so long: an overloaded service hasn't answered its probes yet."""
BLIND_DELAY_S = 2
UNSEEN = "no look at what was written was answered in time, so the audit has only the counts"
SPELLING = re.compile(
    r"(?P<database>sqlite|(mysql|postgres)_(default|tuned))"
    r"(-(?P<servers>[1-9])servers?)?"
    r"(-(?P<replicas>[1-9])replicas?(?P<blind>-blind)?)?"
    r"(-(?P<listing>counter|counter-keyset|counter-keyset-cached))?"
)
INSTALLED = {"DJANGO_SETTINGS_MODULE": "replays.browse.settings"}
LISTINGS = {
    None: "aggregate",
    "counter": "counter",
    "counter-keyset": "keyset",
    "counter-keyset-cached": "cached",
}
LOCUSTFILE = "replays/browse/locustfile.py"
VARIANTS = (
    "sqlite-1server",
    "sqlite-counter",
    "mysql_tuned-1server",
    "mysql_tuned-5servers",
    "mysql_tuned-5servers-4replicas",
    "mysql_tuned-counter",
    "mysql_tuned-counter-keyset-cached",
)


def variant(name: str) -> BrowseVariant:
    spelled = SPELLING.fullmatch(name)
    if spelled is None or (spelled["replicas"] and spelled["database"] == "sqlite"):
        raise UnknownVariant(
            f"{name!r}: a variant of browse is named sqlite, or mysql_ or postgres_ with default "
            "or tuned, then perhaps -5servers, -4replicas (not of SQLite) and -counter, "
            "-counter-keyset or -counter-keyset-cached, in this order"
            f"{did_you_mean(name, VARIANTS)}"
        )
    servers = int(spelled["servers"] or 1)
    settings = {**INSTALLED, "FEED_LISTING": LISTINGS[spelled["listing"]]}
    if spelled["blind"]:
        settings["OWN_WRITES_S"] = "0"
    plain = BrowseVariant.plain(name, spelled["database"], settings)
    return replace(
        plain,
        database=replace(plain.database, app_servers=servers),
        is_balanced=servers > 1,
        replicas=int(spelled["replicas"] or 0),
        replica_delay_s=BLIND_DELAY_S if spelled["blind"] else 0,
    )


def loads(options: RunOptions) -> list[Load]:
    return [load_of(shape, HOLD_S[shape], options) for shape in SHAPES]


def load_of(shape: str, hold_s: int, options: RunOptions) -> Load:
    users, hold_s = options.users or SHAPES[shape], options.run_time_s or hold_s
    return Load(
        users,
        hold_s,
        LOCUSTFILE,
        name=shape,
        arrivals=options.arrivals or "closed",
        counted=("GET /v1/posts/?sort=-likes", "GET /v1/posts/[id]/"),
        warm_up_s=RAMP_S,
        cool_down_s=RAMP_S,
        options={
            "shape": shape,
            "peak": users,
            "ramp-s": RAMP_S,
            "hold-s": hold_s,
            "stop-timeout": FINISH_WITHIN_S,
        },
        files=("probes",),
    )


def conclude(measured: Measured) -> None:
    service = measured.service
    assert isinstance(service, BrowseService)
    service.stop_web()
    sights = read_sights(service.replica_lag) if service.replicas else []
    measured.result.extra = _lag(sights, *measured.requests.window)
    probes = read_probes(measured.folder / "probes.csv")
    if not probes:
        measured.result.errors.append(UNSEEN)
    miscounted = sum(int(service.manage("audit_likes", env)) for env in service.environments)
    measured.result.audit = audit(probes, sights, miscounted)


def read_probes(path: Path) -> list[Probe]:
    with path.open(newline="") as file:
        return [
            Probe(what, int(own), float(written_at), float(read_at), int(seen))
            for what, own, written_at, read_at, seen in csv.reader(file)
            if what != Probe._fields[0]
        ]


def audit(probes: Sequence[Probe], sights: Sequence[Sight], miscounted: int) -> dict[str, Any]:
    """Judge what was seen of what was written.

    ``stale``: others were shown a post although each replica was known to have its deletion before
    they asked.
    """
    missed = sum(probe.own and not probe.seen for probe in probes)
    stale = sum(
        not probe.own and not probe.seen and probe.read_at > everywhere_at(sights, probe.written_at)
        for probe in probes
    )
    return {
        "looks": len(probes),
        "own_write_missed": missed,
        "stale": stale,
        "miscounted": miscounted,
        "ok": not (missed or stale or miscounted),
    }


def _lag(sights: Sequence[Sight], start: float, end: float) -> dict[str, float | None]:
    lags_ms = [sight.lag_ms for sight in sights if start <= sight.asked_at < end]
    if not lags_ms:
        return {}
    return {
        "replica_lag_p50_ms": round(float(np.median(lags_ms)), 2),
        "replica_lag_max_ms": round(max(lags_ms), 2),
    }


ONE_MACHINE = (
    "Five app servers, a primary and its replicas share this machine's cores and its disk: "
    "what replicas add elsewhere, other machines, they can't add here."
)


def _praise(summary: Summary) -> str:
    rate = summary.median(lambda r: r.achieved_rps) or 0.0
    offered = summary.median(lambda r: r.offered_rps) or 0.0
    p95 = summary.median(P95.figure) or 0.0
    return (
        f"{summary.name} answered {rate:,.0f} of the {offered:,.0f} requests/s offered, "
        f"95 % of them within {p95:,.0f} ms."
    )


def _ranks_first(summary: Summary) -> tuple[float, ...]:
    """A variant that fails requests isn't quick."""
    return (-round(summary.median(SUCCESS.figure) or 0.0, 2),)


EXPERIMENT = Experiment(
    name="browse",
    variants=VARIANTS,
    variant=variant,
    seed=Seed(people=1000, friends=2),
    seeding=(("seed_likes", "--as-published"),),
    loads=loads,
    conclude=conclude,
    presentation=Presentation(
        columns=(
            OFFERED,
            Column("requests/s", lambda r: r.achieved_rps, brief=True),
            SUCCESS,
            MEAN._replace(brief=False),
            P95._replace(brief=True),
            P99,
            Column("replica lag p50 ms", extra("replica_lag_p50_ms")),
            Column("replica lag max ms", extra("replica_lag_max_ms"), brief=True),
            CORES_BUSY,
        ),
        headline=P95,
        heading="P95 of a request, ms",
        findings=("own_write_missed", "stale", "miscounted"),
        limitations=(ONE_MACHINE,),
        lesson="replays/browse/lesson.md",
        praise=_praise,
        ranks_first=_ranks_first,
    ),
)

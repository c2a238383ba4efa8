"""Export: expensive requests that starve ordinary ones of connections."""

import csv
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from lab.experiments.base import Experiment, Measured, RunOptions
from lab.progress import stage
from lab.reporting.formats import percent
from lab.reporting.presentation import CORES_BUSY, MEAN, Column, Presentation, extra
from lab.results.requests import Requests
from lab.results.summary import Summary
from lab.running.load import Load
from launch.service import Seed
from launch.unknown import none_of
from launch.variants import UnknownVariant
from replays.export.service import ExportVariant

ORDINARY = ("POST /v1/token/", "GET /v1/feed/")
EXPENSIVE = ("GET /v1/me/export/", "GET /v1/me/report/", "FEED export from order to file")
PASSWORD = "export"  # noqa: S105
TIMES = 10
"""Requests of a user per run (published: once a minute for ten minutes)."""
ONE_PROCESS = {
    "DJANGO_SETTINGS_MODULE": "replays.export.settings",
    "WEB_WORKERS": "1",
    "WEB_THREADS": "60",
    # Else an ordinary request would wait for the interpreter, not for a connection.
    "WEB_SWITCH_MS": "0.5",
    "DB_READ_TIMEOUT_S": "60",
    "DB_POOL_TIMEOUT_S": "60",
}
SPLIT = {"DB_POOL_SIZE": "10", "EXPENSIVE_READS": "10"}
SETTINGS = {
    "sqlite-direct": {},
    "mysql_tuned-shared-pool": {"DB_POOL_SIZE": "20"},
    "mysql_tuned-split-pools": SPLIT,
    "mysql_tuned-narrow-lane": {"DB_POOL_SIZE": "18", "EXPENSIVE_READS": "2"},
    "mysql_tuned-replica": {"DB_POOL_SIZE": "10", "EXPENSIVE_READS": "replica1"},
    "mysql_tuned-background": SPLIT,
}
LOCUSTFILE = "replays/export/locustfile.py"


def variant(name: str) -> ExportVariant:
    if name not in SETTINGS:
        raise UnknownVariant(none_of(name, SETTINGS))
    database = name.partition("-")[0]
    plain = ExportVariant.plain(name, database, ONE_PROCESS | SETTINGS[name])
    if name.endswith("-background"):
        return replace(plain, workers=("make_exports",), options={"order": ""})
    return replace(plain, replicas=1) if name.endswith("-replica") else plain


def loads(options: RunOptions) -> list[Load]:
    run_time_s = options.run_time_s or 60
    pace_s = run_time_s / TIMES
    return [
        Load(
            options.users or 50,
            run_time_s,
            LOCUSTFILE,
            arrivals=options.arrivals or "closed",
            pace_s=pace_s,
            counted=ORDINARY + EXPENSIVE,
            warm_up_s=round(2 * pace_s),
            options={"password": options.seed.password or PASSWORD},
            files=("exports",),
        )
    ]


def conclude(measured: Measured) -> None:
    result = measured.result
    for kind, names in (("ordinary", ORDINARY), ("expensive", EXPENSIVE)):
        figures = _figures(measured.requests, names)
        result.extra |= {f"{kind}_{name}": value for name, value in figures.items()}
    with stage("check"):
        result.audit = _check(measured)


class Digest(NamedTuple):
    person_id: int
    rows: int
    sha256: str


def _figures(requests: Requests, names: Iterable[str]) -> dict[str, float | None]:
    """Return the mean latency and the share of failures of these requests together."""
    routes = [requests.routes[name] for name in names if name in requests.routes]
    latency_ms = [ms for route in routes for ms in route.latency_ms]
    failures = sum(route.failures.total() for route in routes)
    return {
        "mean_ms": round(sum(latency_ms) / len(latency_ms), 2) if latency_ms else None,
        "errors": failures / (len(latency_ms) + failures) if routes else None,
    }


def _check(measured: Measured) -> dict[str, int | bool]:
    """Compare every export that was fetched with what the database says it should hold."""
    service = measured.service
    listed = service.manage("export_digests", service.environments[0])
    due = {digest.person_id: digest for digest in _digests(listed.splitlines())}
    exports = list(_digests((measured.folder / "exports.csv").read_text().splitlines()))
    wrong = [export for export in exports if export != due[export.person_id]]
    incomplete = sum(export.rows < due[export.person_id].rows for export in wrong)
    # Only clients with connections of their own are promised one.
    promised = ORDINARY if "EXPENSIVE_READS" in service.variant.settings else ()
    failed = sum(
        measured.requests.routes[name].failures.total()
        for name in promised
        if name in measured.requests.routes
    )
    return {
        "exports": len(exports),
        "incomplete": incomplete,
        "different": len(wrong) - incomplete,
        "broken_promises": failed,
        "ok": bool(exports) and not wrong and not failed,
    }


def _digests(lines: Iterable[str]) -> Iterable[Digest]:
    for row in csv.DictReader(lines):
        yield Digest(int(row["person_id"]), int(row["rows"]), row["sha256"])


ORDINARY_MEAN = Column("ordinary mean ms", extra("ordinary_mean_ms"), brief=True)
A_LOG_IN_COSTS_ITS_HASH = (
    "A log-in costs what its password hash does; the experiment signup measures that."
)


def _praise(summary: Summary) -> str:
    ordinary = summary.median(ORDINARY_MEAN.figure) or 0.0
    expensive = summary.median(extra("expensive_mean_ms")) or 0.0
    return (
        f"{summary.name} answered ordinary requests in {ordinary:,.0f} ms on average, while "
        f"expensive ones took {expensive / 1000:,.1f} s."
    )


EXPERIMENT = Experiment(
    name="export",
    variants=tuple(SETTINGS),
    variant=variant,
    seed=Seed(people=100, friends=50, password=PASSWORD),
    seeding=(("seed_posts", "--each=600"),),
    loads=loads,
    conclude=conclude,
    presentation=Presentation(
        columns=(
            ORDINARY_MEAN,
            Column("expensive mean ms", extra("expensive_mean_ms"), brief=True),
            MEAN,
            Column("ordinary errors", extra("ordinary_errors"), percent, brief=True),
            Column("expensive errors", extra("expensive_errors"), percent),
            Column("errors", lambda r: None if r.success is None else 1 - r.success, percent),
            Column("exports", lambda r: (r.audit or {}).get("exports")),
            CORES_BUSY,
        ),
        headline=ORDINARY_MEAN,
        heading="Mean of the ordinary requests, ms",
        findings=("incomplete", "different", "broken_promises"),
        limitations=(
            "Every user asks ten times, as published, but within the run time of a minute by "
            "default.",
            A_LOG_IN_COSTS_ITS_HASH,
        ),
        lesson="replays/export/lesson.md",
        praise=_praise,
    ),
)

"""Activity: a log without an index, asked too many questions."""

import json

from lab.experiments.base import Experiment, Measured, RunOptions
from lab.progress import stage
from lab.reporting.formats import percent
from lab.reporting.presentation import CORES_BUSY, OFFERED, P95, SUCCESS, Column, Presentation
from lab.results.result import Figure
from lab.results.summary import Summary
from lab.running.load import Load
from launch.service import Seed
from launch.variants import DATABASES, Variant, refuse_unknown

SHARED = tuple(name for name, database in DATABASES.items() if database.files == 1)
QUERIES = ("as_found", "fewer_queries", "indexed", "best")
TAGS = ("tags_as_found", "tags_fewer_queries", "tags_indexed")
"""The same on the published tables."""
INSTALLED = {
    "DJANGO_SETTINGS_MODULE": "replays.activity.settings",
    # A worker that scans for so long isn't dead. If it were killed, its clients would ask again
    # without a word, and their requests would be missing from the figures.
    "GUNICORN_CMD_ARGS": "--timeout=300",
    # The published service had no time limit for a query; ours has.
    "DB_READ_TIMEOUT_S": "300",
}
ARRIVALS = {1: 9, 20: 3, 50: 3}
"""Seconds during which requests arrive."""
TIMEOUT_S = 30
AUDIT_WITHIN_S = 20
"""Seconds for the audit: queries that scan the table would need minutes for all answers."""
LOCUSTFILE = "replays/activity/locustfile.py"


def variant(name: str) -> Variant:
    database, _, queries = name.partition("-")
    refuse_unknown(name, "database-queries", (database, SHARED), (queries, QUERIES + TAGS))
    return Variant.plain(name, database, {**INSTALLED, "ACTIVITY_QUERIES": queries})


def loads(options: RunOptions) -> list[Load]:
    rates = {options.users: ARRIVALS[50]} if options.users else ARRIVALS
    return [
        Load(
            rate,
            options.run_time_s or run_time_s,
            LOCUSTFILE,
            name=f"{rate}rps",
            arrivals=options.arrivals or "open",
            warm_up_s=2,
            patience_s=TIMEOUT_S + 1,
        )
        for rate, run_time_s in rates.items()
    ]


def conclude(measured: Measured) -> None:
    service = measured.service
    service.stop_web()
    options = (f"--within-s={AUDIT_WITHIN_S}", "--json")
    with stage("audit"):
        (env,) = service.environments
        found = json.loads(service.manage("audit_activity", env, *options, ok=(0, 1)))
    measured.result.audit = {**found, "ok": not found["wrong_answers"]}


def mean_ms(page: str) -> Figure:
    """Return the figure of one endpoint; None if none of its requests succeeded."""
    route = f"GET /v1/activity/{page}/"
    return lambda result: result.routes.get(route, {}).get("latency_ms", {}).get("mean")


TIMES = Column("times ms", mean_ms("times"), spread=True, brief=True)
VISITS = Column("visits ms", mean_ms("visits"), brief=True)
SUMMARY = Column("summary ms", mean_ms("summary"), brief=True)
AUDIT_IS_SHORT = (
    f"The audit asks for {AUDIT_WITHIN_S} s: of a variant that scans the table it compares few "
    "answers."
)


def _praise(summary: Summary) -> str:
    success = summary.median(SUCCESS.figure)
    times, visits, totals = (c.write(summary.median(c.figure)) for c in (TIMES, VISITS, SUMMARY))
    return (
        f"{summary.name}, answered {percent(success)} of the requests: the accumulated times "
        f"after {times} ms, a day's visits after {visits} ms, the summary after {totals} ms."
    )


EXPERIMENT = Experiment(
    name="activity",
    variants=tuple(f"mysql_tuned-{queries}" for queries in QUERIES),
    variant=variant,
    seed=Seed(people=1000, friends=0),
    seeding=(("seed_visits",),),
    loads=loads,
    conclude=conclude,
    presentation=Presentation(
        columns=(OFFERED, SUCCESS, TIMES, VISITS, SUMMARY, P95, CORES_BUSY),
        headline=TIMES,
        heading="Mean of the accumulated times, ms",
        findings=("wrong_answers",),
        limitations=(
            f"A request that isn't answered within {TIMEOUT_S} s has failed and is in no latency; "
            "a dash says that all of them did.",
            AUDIT_IS_SHORT,
        ),
        lesson="replays/activity/lesson.md",
        praise=_praise,
    ),
)

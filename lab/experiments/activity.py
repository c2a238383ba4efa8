"""Activity: a log without an index, asked too many questions."""

import json
from collections.abc import Sequence
from typing import ClassVar

from lab.experiments.base import Asked, Experiment, Measured
from lab.progress import stage
from lab.reporting.formats import percent
from lab.reporting.presentation import (
    CORES_BUSY,
    OFFERED,
    P95,
    SUCCESS,
    Column,
    Presentation,
    Published,
)
from lab.results.result import Figure
from lab.results.summary import Summary
from lab.running.load import Load
from launch.service import Seed
from launch.variants import DATABASES, UnknownVariant, Variant

SHARED = tuple(name for name, database in DATABASES.items() if database.files == 1)
QUERIES = ("as_found", "fewer_queries", "indexed", "best")
TAGS = ("tags_as_found", "tags_fewer_queries", "tags_indexed")
"""The same on the published tables."""
LAST_DAY = "2025-12-31"
"""Last day of the log: six months, with 2,000 rows per person."""
TIMEOUT_S = 30
PATIENT = {"GUNICORN_CMD_ARGS": "--timeout=300"}
"""A worker that scans for so long isn't dead. If it were killed, its clients would ask again
without a word, and their requests would be missing from the figures."""
AUDIT_WITHIN_S = 20
"""Seconds for the audit: queries that scan the table would need minutes for all answers."""
ARRIVALS = {1: 9, 20: 3, 50: 3}
"""Seconds during which requests arrive."""


def mean_ms(page: str) -> Figure:
    """Return the figure of one endpoint; None if none of its requests succeeded."""
    route = f"GET /v1/activity/{page}/"
    return lambda result: result.routes.get(route, {}).get("latency_ms", {}).get("mean")


def _known(rate: float, *figures: float | None) -> dict[str, float]:
    labels = ("success", "times ms", "visits ms", "summary ms")
    known = dict(zip(labels, figures, strict=True))
    return {"offered /s": rate} | {k: v for k, v in known.items() if v is not None}


TIMES = Column("times ms", mean_ms("times"), spread=True, brief=True)
VISITS = Column("visits ms", mean_ms("visits"), brief=True)
SUMMARY = Column("summary ms", mean_ms("summary"), brief=True)


class ActivityPresentation(Presentation):
    published = tuple(
        Published(f"{what}, {rate} within 1 s, each page alone", _known(rate, *figures))
        for rate, what, *figures in (
            (1, "as found", None, 6_234, 11_589, 7_940),
            (1, "fix 1", None, 4_352, 1_722, 2_113),
            (1, "fix 1 and 2", None, 1_802, 805.135, 920.967),
            (20, "as found", None, None, 20_004, 10_008),
            (20, "fix 1", None, 28_506, 6_379, 7_149),
            (20, "fix 1 and 2", None, 6_447, 853.126, 1_306),
            (50, "as found", 0.0, None, None, None),
            (50, "fix 1", None, None, 16_994, 13_177),
            (50, "fix 1 and 2", None, 13_396, 631.082, 2_359),
        )
    )
    columns: ClassVar[tuple[Column, ...]] = (
        OFFERED,
        SUCCESS,
        TIMES,
        VISITS,
        SUMMARY,
        P95,
        CORES_BUSY,
    )
    headline = TIMES
    axis = "mean ms of the accumulated times"
    findings = ("wrong_answers",)
    limitations: ClassVar[tuple[str, ...]] = (
        f"A request that isn't answered within {TIMEOUT_S} s has failed and is in no latency; a "
        "dash says that all of them did. Published means are of those that timed out too.",
        f"The audit asks for {AUDIT_WITHIN_S} s: of a variant that scans the table it compares few "
        "answers.",
    )

    def praise(self, summary: Summary) -> str:
        success = summary.median(SUCCESS.figure)
        times, visits, totals = (
            c.write(summary.median(c.figure)) for c in (TIMES, VISITS, SUMMARY)
        )
        return (
            f"{summary.name}, answered {percent(success)} of the requests: the accumulated times "
            f"after {times} ms, a day's visits after {visits} ms, the summary after {totals} ms."
        )


class Activity(Experiment):
    name = "activity"
    presentation = ActivityPresentation()
    locustfile = "locustfiles/activity.py"
    variants: ClassVar[tuple[str, ...]] = tuple(f"mysql_tuned-{queries}" for queries in QUERIES)
    seed = Seed(people=1000, friends=0)

    def variant(self, name: str) -> Variant:
        database, _, queries = name.partition("-")
        for said, known in ((database, SHARED), (queries, QUERIES + TAGS)):
            if said not in known:
                raise UnknownVariant(
                    f"{name!r}: {said!r} is none of {', '.join(known)}; a variant is named "
                    "database-queries"
                )
        return Variant.plain(name, database, {"ACTIVITY_QUERIES": queries, **PATIENT})

    def loads(self, asked: Asked) -> list[Load]:
        rates = {asked.users: ARRIVALS[50]} if asked.users else ARRIVALS
        return [
            Load(
                rate,
                asked.run_time_s or run_time_s,
                self.locustfile,
                name=f"{rate}rps",
                arrivals=asked.arrivals or "open",
                warm_up_s=2,
                patience_s=TIMEOUT_S + 1,
                options={"last-day": LAST_DAY},
            )
            for rate, run_time_s in rates.items()
        ]

    def seeding(self) -> Sequence[Sequence[str]]:
        return (("seed_visits", f"--until={LAST_DAY}"),)

    def conclude(self, measured: Measured) -> None:
        service = measured.service
        service.stop_web()
        options = (f"--within-s={AUDIT_WITHIN_S}", f"--until={LAST_DAY}", "--json")
        with stage("audit"):
            (env,) = service.environments
            found = json.loads(service.manage("audit_activity", env, *options, ok=(0, 1)))
        measured.result.audit = {**found, "ok": not found["wrong_answers"]}

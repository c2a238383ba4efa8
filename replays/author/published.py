"""Fan-out as it was published: the four steps under the author's own loads, ours beside them."""

from dataclasses import replace
from typing import NamedTuple

from lab.experiments import fanout
from lab.experiments.base import RunOptions
from lab.running.load import Load
from launch.service import Seed
from launch.variants import Variant
from replays.author.variants import AUTHOR
from replays.author.variants import named as author_variant

USERS = 500


class Step(NamedTuple):
    users: int
    pause_s: float
    run_time_s: int


FEW = "10users-3m"
PAUSING = "500users-3m"
HASTY = "500users-nopause-1m"
STEPS = {FEW: Step(10, 1, 180), HASTY: Step(USERS, 0, 60), PAUSING: Step(USERS, 1, 180)}
"""The script had ten users when the service was on SQLite, and Little's law gives the same of the
published figures (0.646/s of 14.98 s); it had no pause any more when Celery wrote the feeds."""
PUBLISHED_UNDER = {
    "author_sqlite": FEW,
    "sqlite_per_server-inline-rowwise": FEW,
    "author_celery": HASTY,
    "mysql_published-task-roundtrip": HASTY,
}
"""The published steps that were not under PAUSING."""


def variant(name: str) -> Variant:
    whose = name.partition("_")[0]
    return author_variant(name) if whose == AUTHOR else fanout.variant(name).on("mysql")


def loads(options: RunOptions) -> list[Load]:
    load = fanout.load(options)
    return [
        replace(
            load,
            users=options.users or step.users,
            run_time_s=options.run_time_s or step.run_time_s,
            name=name,
            arrivals=options.arrivals or "checked",
            pace_s=step.pause_s,
            warm_up_s=0,
        )
        for name, step in STEPS.items()
    ]


EXPERIMENT = replace(  # their code and ours in its manner, step by step; then what we would do
    fanout.EXPERIMENT,
    name="published-003",
    document=(
        "chankoo, System design practice: feed service 3, database bottleneck (26 November 2023)"
    ),
    variants=(
        "author_sqlite",
        "sqlite_per_server-inline-rowwise",
        "author_default",
        "mysql_default-inline-rowwise",
        "author_tuned",
        "mysql_published-inline-rowwise",
        "mysql_tuned-inline-rowwise",
        "author_celery",
        "mysql_published-task-roundtrip",
        "mysql_tuned-outbox_celery-ring",
        "mysql_tuned-outbox-setbased",
        "mysql_tuned-outbox-ring",
        "sqlite-outbox-setbased",
    ),
    variant=variant,
    seed=Seed(people=501, graph="star"),
    loads=loads,
    suits=lambda variant, load: load.name == PUBLISHED_UNDER.get(variant.name, PAUSING),
    presentation=replace(
        fanout.EXPERIMENT.presentation,
        limitations=(
            "Users post as person 1 all the time, as the script does, so the same 501 timelines "
            "are written. They begin at once, and pause after an answer but not after a failure "
            "(k6's fail() ends the iteration).",
            "author_…: the author's public code. It has no receipts, so deliveries and lag are not "
            "measured; its audit reads the feeds.",
            *fanout.EXPERIMENT.presentation.limitations,
        ),
    ),
    options={},
    drain_within_s=1200,
    around_s=25,
)

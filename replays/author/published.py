"""Fan-out as it was published: the four steps under the author's own loads, ours beside them."""

from dataclasses import replace
from typing import ClassVar, NamedTuple

from lab.experiments.fanout import Fanout
from lab.experiments.fanout.presentation import FanoutPresentation
from lab.running.load import Load
from lab.running.options import RunOptions
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


class Published003Presentation(FanoutPresentation):
    limitations = (
        "Users post as person 1 all the time, as the script does, so the same 501 timelines are "
        "written. They begin at once, and pause after an answer but not after a failure (k6's "
        "fail() ends the iteration).",
        "author_…: the author's public code. It has no receipts, so deliveries and lag are not "
        "measured; its audit reads the feeds.",
        *FanoutPresentation.limitations,
    )


class Published003(Fanout):
    """Their code and ours in its manner, one step after the other; then what we would do."""

    name = "published-003"
    presentation = Published003Presentation()
    document = (
        "chankoo, System design practice: feed service 3, database bottleneck (26 November 2023)"
    )
    variants: ClassVar[tuple[str, ...]] = (
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
    )
    seed = Seed(people=501, graph="star")
    drain_within_s = 1200
    around_s = 25

    def variant(self, name: str) -> Variant:
        whose = name.partition("_")[0]
        return author_variant(name) if whose == AUTHOR else super().variant(name)

    def loads(self, options: RunOptions) -> list[Load]:
        return [self._load(name, step, options) for name, step in STEPS.items()]

    def suits(self, variant: Variant, load: Load) -> bool:
        return load.name == PUBLISHED_UNDER.get(variant.name, PAUSING)

    def _load(self, name: str, step: Step, options: RunOptions) -> Load:
        (load,) = super().loads(options)
        return replace(
            load,
            users=options.users or step.users,
            run_time_s=options.run_time_s or step.run_time_s,
            name=name,
            arrivals=options.arrivals or "checked",
            pace_s=step.pause_s,
            warm_up_s=0,
        )

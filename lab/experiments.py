"""Experiments: which variants are compared, and what was published."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Published:
    """A figure of the published system, on its authors' machines. Times in milliseconds."""

    what: str
    posts_per_s: float
    success: float
    mean_ms: float
    p95_ms: float


@dataclass(frozen=True)
class Experiment:
    name: str
    variants: tuple[str, ...]
    published: tuple[Published, ...]


FANOUT = Experiment(
    name="fanout",
    variants=(
        "sqlite-inline-rowwise",
        "sqlite-inline-bulk",
        "sqlite-inline-setbased",
        "sqlite-outbox-setbased",
        "sqlite-pull",
        "sqlite-null",
        "sqlite_per_server-inline-bulk",
        "mysql_default-inline-rowwise",
        "mysql_tuned-inline-rowwise",
        "mysql_tuned-inline-bulk",
        "mysql_tuned-inline-setbased",
        "mysql_tuned-outbox-setbased",
        "mysql_tuned-task-roundtrip",
        "mysql_tuned-chunked-pipeline",
        "mysql_tuned-task-pipeline",
        "mysql_tuned-outbox-pipeline",
        "mysql_tuned-outbox-script",
        "mysql_tuned-outbox-ring",
        "mysql_tuned-pull",
        "mysql_tuned-null",
    ),
    published=(
        Published("SQLite per app server", 0.65, 0.992, 15_000, 29_500),
        Published("MySQL, default", 104.7, 0.155, 4_700, 15_000),
        Published("MySQL, tuned", 11.4, 0.990, 40_900, 58_100),
        Published("Celery into Redis", 308.3, 0.9996, 1_600, 4_800),
    ),
)
EXPERIMENTS = {experiment.name: experiment for experiment in (FANOUT,)}

"""What ``lab list`` prints: the variants to begin with, or everything that can be named."""

from collections.abc import Mapping

from lab.experiments import EXPERIMENTS
from launch.backends import backends
from launch.variants import DATABASES, PARTS, SHORT

FIRST = {
    "sqlite-inline-rowwise": "a row per delivery, in the request: the simplest that is right",
    "sqlite-inline-setbased": "one INSERT … SELECT per post, in the request",
    "sqlite-outbox-setbased": "a drainer delivers, many posts at a time",
    "sqlite-pull": "no deliveries: readers pay",
    "sqlite-null": "no deliveries at all: what posts alone cost",
    "mysql_default-inline-rowwise": "as published: MySQL as it comes",
    "mysql_tuned-outbox-setbased": "MySQL alone, with a drainer (or postgres_tuned-…)",
    "mysql_tuned-task-roundtrip": "as published: Celery and sorted sets in Redis",
    "mysql_tuned-outbox-ring": "a drainer and rings in Redis: as fast as any",
    "mysql_tuned-outbox-ring@cluster3": "the same, with timelines on three Redis primaries",
}
"""What to try first, and what it is."""


def print_first() -> None:
    print("variants, database-strategy-store[@part+part…]")
    for name, text in FIRST.items():
        print(f"  {name:33} {text}")
    print(f"experiments: {', '.join(EXPERIMENTS)}")
    print("All variants of each, and what a name can say: python -m lab list --all")


def print_all() -> None:
    for experiment in EXPERIMENTS.values():
        print(experiment.name + (f": {experiment.document}" if experiment.document else ""))
        for name in experiment.variants:
            clean = experiment.variant(name).should_be_clean
            print(f"  {name}" + ("" if clean else "  (not clean)"))
    print(f"variants, database-strategy-store[@part+part…] or database-{'|'.join(SHORT)}")
    print(f"database: {', '.join(DATABASES)}")
    known = backends()
    _print_texts("strategy", {name: one.purpose for name, one in known.strategies.items()})
    _print_texts("store", {name: one.purpose for name, one in known.timeline_stores.items()})
    _print_texts("part", {name: part.text for name, part in PARTS.items()})


def _print_texts(axis: str, texts: Mapping[str, str]) -> None:
    print(axis)
    for name, text in texts.items():
        print(f"  {name:15} {text}")

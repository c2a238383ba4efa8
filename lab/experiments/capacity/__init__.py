"""Capacity: the highest rate of posts that a variant holds.

Each step of the search is a run of the fan-out at a rate, audit included.
"""

from collections.abc import Sequence
from dataclasses import replace

from lab.experiments import fanout
from lab.experiments.base import Experiment, Measured, RunOptions, in_turn
from lab.experiments.capacity.presentation import PRESENTATION
from lab.experiments.search import Limits, again, first_rate, judge, next_step
from lab.results.result import Result
from lab.running.load import Load
from launch.variants import Variant

FIRST = 500
"""Posts per second that a search begins with."""


def load_at(rate: int, options: RunOptions) -> Load:
    return replace(fanout.load(options._replace(users=rate)), name=f"{rate}rps")


def loads(options: RunOptions) -> list[Load]:
    """Return the first step, and the one that follows if it breaks."""
    first = load_at(first_rate(options, FIRST), options)
    return [first, again(first)]


def next_load(
    loads: Sequence[Load], variant: Variant, options: RunOptions, results: Sequence[Result]
) -> Load | None:
    if options.loads:
        return in_turn(loads, variant, options, results)
    return next_step(variant, options, results, lambda rate: load_at(rate, options), FIRST)


def conclude(measured: Measured) -> None:
    fanout.conclude(measured)
    judge(measured)


EXPERIMENT = Experiment(
    name="capacity",
    variants=(
        "mysql_tuned-null",
        "mysql_tuned-outbox-ring",
        "mysql_tuned-outbox-packed",
        "mysql_tuned-outbox-setbased",
        "mysql_tuned-inline-setbased",
        "sqlite-outbox-packed",
        "sqlite-outbox-setbased",
    ),
    variant=fanout.variant,
    loads=loads,
    next_load=next_load,
    conclude=conclude,
    presentation=PRESENTATION,
    options={
        "limit_p99_ms": f"of requests' p99 ({Limits().limit_p99_ms:g})",
        "limit_lag_ms": f"of the lag's p99 ({Limits().limit_lag_ms:g})",
        "limit_rps": f"the highest rate to try ({Limits().limit_rps:g})",
    },
    drain_within_s=60,
    steps=9,
)

"""Overload: what a service still answers when several times what it holds is offered.

The rate that holds is searched like capacity's; ``--loads steps --users`` is the first rate.
"""

import os
from collections.abc import Sequence
from dataclasses import replace

from lab.experiments import fanout
from lab.experiments.base import Experiment, Measured, RunOptions, in_turn
from lab.experiments.overload.presentation import PRESENTATION
from lab.experiments.overload.steps import STEPS, broken, measure_steps, void
from lab.experiments.search import again, first_rate, found_by, judge, next_step
from lab.progress import console
from lab.results.result import Result
from lab.running.load import Load, OpenLoad
from launch.variants import Variant

FIRST = 500
"""Posts per second that the search begins with."""
MULTIPLES = (1.0, 2.0, 3.0, 5.0, 10.0, 1.0)
"""Of the first rate. The last step shows whether the service recovers."""
FIRST_OF_HELD = 0.5
"""The first rate, as a share of the highest that holds. Ten times all that holds would be mostly
refusals, which take CPU from posts."""
RUN_TIME_S = 10
WARM_UP_S = 3
TIMEOUT_S = 1
"""Until a client gives up. gunicorn takes no more than 2,000 connections per worker: what waits on
those would be answered within 2 s on a fast core, and the control would not be red."""
ONE_CORE = "This machine has one core, which the load generator took from the service."


def variant(name: str) -> Variant:
    return replace(fanout.variant(name), is_pinned=True)


def load_at(rate: int, options: RunOptions) -> Load:
    """Return posts at a rate, by the generator that needs less of the machine."""
    run_time_s = options.run_time_s or RUN_TIME_S
    return OpenLoad(
        rate,
        run_time_s,
        name=f"{rate}rps",
        counted=("POST /v1/posts/",),
        warm_up_s=min(WARM_UP_S, run_time_s),
        patience_s=TIMEOUT_S,
        options={"posts-per-s": rate},
        files=("accepted", "probes", "steps"),
    )


def steps_from(rate: int, options: RunOptions) -> Load:
    rates = ",".join(f"{multiple * rate:g}" for multiple in MULTIPLES)
    return replace(
        load_at(rate, options),
        name=STEPS,
        options={"posts-per-s": rates},
        optional=True,
    )


def loads(options: RunOptions) -> list[Load]:
    """Return the first step of the search, the one that follows if it breaks, and all steps."""
    rate = first_rate(options, FIRST)
    first = load_at(rate, options)
    return [first, again(first), steps_from(rate, options)]


def next_load(
    loads: Sequence[Load], variant: Variant, options: RunOptions, results: Sequence[Result]
) -> Load | None:
    """Return the next step of the search, and at its end the steps from a share of what held."""
    if options.loads:
        return in_turn(loads, variant, options, results)
    if results and results[-1].load == STEPS:
        return None
    load = next_step(variant, options, results, lambda rate: load_at(rate, options), FIRST)
    if load is not None:
        return load
    found = found_by(variant, results)
    return steps_from(round(FIRST_OF_HELD * found.offered_rps), options) if found.held else None


def conclude(measured: Measured) -> None:
    if len(os.sched_getaffinity(0)) == 1:
        measured.result.environment["limitations"].append(ONE_CORE)
    fanout.conclude(measured)
    if measured.load.name == STEPS:
        _judge_steps(measured)
    else:
        judge(measured)


def _judge_steps(measured: Measured) -> None:
    """Record the figures of each step, and what they broke."""
    result = measured.result
    steps = measure_steps(measured.folder, measured.requests.rows, MULTIPLES)
    why = [reason for step in steps for reason in broken(step, steps[0])]
    voided = [reason for step in steps for reason in void(step)]
    for number, step in enumerate(steps, start=1):
        result.extra |= step.as_extra(number)
    result.extra["held"] = float(not why)
    result.errors += voided + why
    console.print(f"  {'; '.join(voided + why) or 'held at every step'}")


EXPERIMENT = Experiment(
    name="overload",
    variants=(
        "mysql_tuned-outbox-ring",
        "mysql_tuned-outbox-ring@granian",
        "mysql_tuned-outbox-ring@proxy",
        "mysql_tuned-outbox-ring@granian+proxy",
    ),
    variant=variant,
    loads=loads,
    next_load=next_load,
    conclude=conclude,
    presentation=PRESENTATION,
    drain_within_s=60,
    steps=9,
)

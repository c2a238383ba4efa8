"""Overload: what a service still answers when several times what it holds is offered."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lab.experiments.base import Measured
from lab.experiments.capacity import Capacity
from lab.experiments.capacity.summary import found_by
from lab.experiments.fanout import Fanout
from lab.experiments.overload.presentation import OverloadPresentation
from lab.experiments.overload.steps import STEPS, broken, measure_steps, void
from lab.progress import console
from lab.results.result import Result
from lab.results.thresholds import held
from lab.running.load import Load, OpenLoad
from lab.running.options import RunOptions
from launch.variants import Variant

MULTIPLES = (1.0, 2.0, 3.0, 5.0, 10.0, 1.0)
"""Of the first rate. The last step shows whether the service recovers."""
FIRST_OF_HELD = 0.5
"""The first rate, as a share of the highest that holds. Ten times all that holds would leave hardly
any CPU for posts: a refusal takes about a twentieth of what a post does."""
RUN_TIME_S = 10
WARM_UP_S = 3
TIMEOUT_S = 1
"""Until a client gives up. gunicorn takes no more than 2,000 connections per worker: what waits on
those would be answered within 2 s on a fast core, and the control would not be red."""
ONE_CORE = "This machine has one core, which the load generator took from the service."


@dataclass(frozen=True)
class Steps(OpenLoad):
    """Posts at several rates in turn: ``multiples`` of as many per second as there are users."""

    multiples: tuple[float, ...] = (1.0,)

    @property
    def seconds(self) -> int:
        return len(self.multiples) * (self.warm_up_s + self.run_time_s) + self.patience_s


class Overload(Capacity):
    """The rate that holds is searched like capacity's; ``--loads steps --users`` is the first."""

    name = "overload"
    presentation = OverloadPresentation()
    locustfile = "locustfiles/open_load.py"
    variants = (
        "mysql_tuned-outbox-ring",
        "mysql_tuned-outbox-ring@granian",
        "mysql_tuned-outbox-ring@proxy",
        "mysql_tuned-outbox-ring@granian+proxy",
    )
    options = ()

    def variant(self, name: str) -> Variant:
        return replace(super().variant(name), is_pinned=True)

    def loads(self, options: RunOptions) -> list[Load]:
        first, again = map(_lean, super().loads(options._replace(run_time_s=_run_time_s(options))))
        rates = ",".join(f"{multiple * first.users:g}" for multiple in MULTIPLES)
        steps = replace(
            first,
            name=STEPS,
            multiples=MULTIPLES,
            options={"posts-per-s": rates},
            optional=True,
        )
        return [first, again, steps]

    def next_load(
        self, variant: Variant, options: RunOptions, results: Sequence[Result]
    ) -> Load | None:
        if options.loads:
            return super().next_load(variant, options, results)
        if results and results[-1].load == STEPS:
            return None
        searched = super().next_load(variant, options, results)
        if searched:
            return searched
        found = found_by(variant, results)
        rate = round(FIRST_OF_HELD * found.offered_rps)
        return self.loads(options._replace(users=rate))[-1] if held(found) else None

    def conclude(self, measured: Measured) -> None:
        if len(os.sched_getaffinity(0)) == 1:
            measured.result.environment["limitations"].append(ONE_CORE)
        if measured.load.name != STEPS:
            super().conclude(measured)
            return
        Fanout.conclude(self, measured)
        result = measured.result
        steps = measure_steps(measured.folder, measured.requests.rows, MULTIPLES)
        why = [reason for step in steps for reason in broken(step, steps[0])]
        voided = [reason for step in steps for reason in void(step)]
        for number, step in enumerate(steps, start=1):
            result.extra |= step.as_extra(number)
        result.extra["held"] = float(not why)
        result.errors += voided + why
        console.print(f"  {'; '.join(voided + why) or 'held at every step'}")


def _run_time_s(options: RunOptions) -> int:
    return options.run_time_s or RUN_TIME_S


def _lean(load: Load) -> Steps:
    """Return the same load by the generator that needs less of the machine."""
    return Steps(
        load.users,
        load.run_time_s,
        Overload.locustfile,
        name=load.name,
        arrivals="open",
        counted=load.counted,
        warm_up_s=min(WARM_UP_S, load.run_time_s),
        patience_s=TIMEOUT_S,
        options={"posts-per-s": load.users},
        files=("accepted", "probes", "steps"),
        optional=load.optional,
    )

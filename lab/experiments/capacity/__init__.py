"""Capacity: the highest rate of posts that a variant holds."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from lab.experiments.base import Measured, Option
from lab.experiments.capacity.bisection import first_rate
from lab.experiments.capacity.limits import Limits
from lab.experiments.capacity.presentation import CapacityPresentation
from lab.experiments.capacity.search import judge, next_step
from lab.experiments.fanout import Fanout
from lab.experiments.fanout.presentation import FanoutPresentation
from lab.results.result import Result
from lab.running.load import Load
from lab.running.options import RunOptions
from launch.variants import Variant

FIRST = 500
"""Posts per second that a search begins with."""


class Capacity(Fanout):
    """A search: each of its steps is a run of the fan-out at a rate, audit included.

    A rate that breaks is tried once more, because the machine is noisy; not if it was far beyond
    its limit while the machine was as fast as before.
    """

    name = "capacity"
    presentation: ClassVar[FanoutPresentation] = CapacityPresentation()
    variants: ClassVar[tuple[str, ...]] = (
        "mysql_tuned-null",
        "mysql_tuned-outbox-ring",
        "mysql_tuned-outbox-packed",
        "mysql_tuned-outbox-setbased",
        "mysql_tuned-inline-setbased",
        "sqlite-outbox-packed",
        "sqlite-outbox-setbased",
    )
    drain_within_s = 60
    steps = 9
    options: ClassVar[tuple[Option, ...]] = (
        Option("limit_p99_ms", f"of requests' p99 ({Limits().p99_ms:g})"),
        Option("limit_lag_ms", f"of the lag's p99 ({Limits().lag_ms:g})"),
        Option("limit_rps", f"the highest rate to try ({Limits().rps})"),
    )

    def loads(self, options: RunOptions) -> list[Load]:
        """Return the first step, and the one that follows if it breaks."""
        rate = first_rate(options.users or FIRST, Limits.of(options.own).rps)
        (load,) = super().loads(options._replace(users=rate))
        first = replace(load, name=f"{rate}rps")
        return [first, replace(first, name=f"{rate}rps_again", optional=True)]

    def next_load(
        self, variant: Variant, options: RunOptions, results: Sequence[Result]
    ) -> Load | None:
        if options.loads:
            return super().next_load(variant, options, results)
        most = Limits.of(options.own).rps
        first = first_rate(options.users or FIRST, most)
        return next_step(variant, results, lambda rate: self._steps(options, rate), first, most)

    def _steps(self, options: RunOptions, rate: int) -> Sequence[Load]:
        return self.loads(options._replace(users=rate))

    def conclude(self, measured: Measured) -> None:
        super().conclude(measured)
        judge(measured, Limits.of(measured.options.own))

"""The limits that a rate keeps if it holds."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from lab.reporting.formats import number
from lab.results.result import Result
from launch.variants import Variant

FAILING = 0.001
ANSWERED = 0.99
FAR_OFF = 0.8
"""A run that answers a smaller share of its offered rate is far beyond its limit."""
SLOWED = 1.25
"""A run whose calibration is this many times that of a quieter run was slowed."""


class Limits(NamedTuple):
    p99_ms: float = 1000
    """Limit of the requests' p99."""
    lag_ms: float = 500
    """Limit of the lag's p99."""
    rps: int = 4000
    """Highest rate that is tried."""

    @classmethod
    def of(cls, own: Mapping[str, float]) -> "Limits":
        """Return the limits that the command line gives, or the usual ones."""
        usual = cls()
        return cls(
            own.get("limit_p99_ms", usual.p99_ms),
            own.get("limit_lag_ms", usual.lag_ms),
            int(own.get("limit_rps", usual.rps)),
        )


def broken(result: Result, variant: Variant, limits: Limits) -> Iterator[str]:
    """Yield each limit that a run broke; nothing if it held."""
    answered = result.achieved_rps or 0.0
    p99_ms, lag_ms = result.latency_ms.get("p99"), result.lag_ms.get("p99")
    if result.failures > FAILING * result.requests:
        yield f"{result.failures / result.requests:.2%} failed > {FAILING:.1%}"
    if answered < ANSWERED * result.offered_rps:
        yield f"{number(answered)} answered per second < {ANSWERED:.0%} of {result.offered_rps:,g}"
    if p99_ms is None or p99_ms > limits.p99_ms:
        yield f"p99 {number(p99_ms)} ms > {limits.p99_ms:,g}"
    if variant.delivers and (lag_ms is None or lag_ms > limits.lag_ms):
        yield f"lag p99 {number(lag_ms)} ms > {limits.lag_ms:,g}"
    if not variant.expects(result.audit):
        yield "the audit is not as it should be"


def is_far_off(result: Result, variant: Variant) -> bool:
    """Return whether a run broke its limits by far: a quieter machine would not help."""
    answered = result.achieved_rps or 0.0
    return answered < FAR_OFF * result.offered_rps or not variant.expects(result.audit)


def was_slowed(results: Sequence[Result]) -> bool:
    """Return whether noisy neighbours (CPU steal) slowed the machine in the last of these runs."""
    speeds_ms = [result.environment["calibration_ms"] for result in results]
    return bool(speeds_ms[-1] > SLOWED * min(speeds_ms))

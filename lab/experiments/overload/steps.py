"""The steps of a run: what was offered, and what came of it."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from lab.reporting.formats import number
from lab.results.figures import percentiles
from lab.results.requests import Request
from lab.results.result import Result
from locustfiles.connections import DROPPED

STEPS = "steps"
"""Name of the load that goes through all steps."""
LEAST_GOODPUT = 0.95
"""Share of the first step's goodput; at the first step, of what is offered."""
SLOWEST_PROBE_S = 1.0
FAILING = 0.01
"""Share of the arrivals that may be neither accepted nor refused."""
LEAST_SENT = 0.99
"""Share of the scheduled arrivals that the load generator has to send."""
GENERATOR_LATE_MS = 100.0
"""A generator whose p99 is later than this was short of a core itself."""
REFUSED = ("status 503 with Retry-After", "status 429 with Retry-After")
COLLAPSED = 0.5
"""A step with a smaller share of the first step's goodput has collapsed."""


class Step(NamedTuple):
    """Rates are per second, of the arrivals that were due in the measured part of the step."""

    multiple: float
    offered_rps: float
    arrived_rps: float
    goodput_rps: float
    """Answered with 201."""
    refused_rps: float
    """Answered with 503 or 429, and Retry-After."""
    failed_rps: float
    """Everything else: time-outs, lost connections, other answers, and what was dropped."""
    p50_ms: float | None
    p99_ms: float | None
    refused_p50_ms: float | None
    refused_p99_ms: float | None
    probe_p99_ms: float | None
    """Of those under way in the step, also if they got no answer."""
    slowest_probe_s: float | None
    generator_late_ms: float
    """p99 of how late the load generator sent."""
    sent: float
    """Share of the scheduled arrivals that it sent; it drops one if it has no connection left."""

    def as_extra(self, turn: int) -> dict[str, float | None]:
        """Return the figures as a result keeps them."""
        return {f"step{turn}_{name}": value for name, value in self._asdict().items()}


def steps_of(result: Result) -> list[Step]:
    """Return the steps of a result, from the figures that it keeps."""
    steps: list[Step] = []
    while f"step{len(steps) + 1}_multiple" in result.extra:
        turn = len(steps) + 1
        steps.append(Step(*(result.extra[f"step{turn}_{name}"] for name in Step._fields)))  # type: ignore[arg-type]
    return steps


def measure_steps(
    folder: Path, requests: Sequence[Request], multiples: Sequence[float]
) -> list[Step]:
    probes = _numbers(folder / "probes.csv")
    return [
        _measure(multiple, window, requests, probes)
        for multiple, window in zip(multiples, _numbers(folder / "steps.csv"), strict=True)
    ]


def _numbers(file: Path) -> list[dict[str, float]]:
    with file.open(newline="") as rows:
        return [{name: float(cell) for name, cell in row.items()} for row in csv.DictReader(rows)]


def _measure(
    multiple: float,
    window: dict[str, float],
    requests: Sequence[Request],
    probes: Sequence[dict[str, float]],
) -> Step:
    start, end = window["start"], window["end"]
    arrived = [request for request in requests if start <= request.begun_at < end]
    accepted = [request.ms for request in arrived if not request.error]
    refused = [request.ms for request in arrived if request.error in REFUSED]
    dropped = sum(request.error == DROPPED for request in arrived)
    seen = [
        probe
        for probe in probes
        if probe["timestamp"] < end and probe["timestamp"] + probe["seconds"] >= start
    ]
    accepted_ms, refused_ms = (percentiles(ms, ("p50", "p99")) for ms in (accepted, refused))
    per_s = 1 / (end - start)
    return Step(
        multiple,
        offered_rps=window["rate"],
        arrived_rps=round(len(arrived) * per_s, 2),
        goodput_rps=round(len(accepted) * per_s, 2),
        refused_rps=round(len(refused) * per_s, 2),
        failed_rps=round((len(arrived) - len(accepted) - len(refused)) * per_s, 2),
        p50_ms=accepted_ms["p50"],
        p99_ms=accepted_ms["p99"],
        refused_p50_ms=refused_ms["p50"],
        refused_p99_ms=refused_ms["p99"],
        probe_p99_ms=percentiles([probe["seconds"] * 1000 for probe in seen], ("p99",))["p99"],
        slowest_probe_s=max((probe["seconds"] for probe in seen), default=None),
        generator_late_ms=window["late_p99_ms"],
        sent=round((len(arrived) - dropped) * per_s / window["rate"], 4),
    )


def broken(step: Step, first: Step) -> Iterator[str]:
    """Yield what a step broke; nothing if it held."""
    name = f"at {step.multiple:g}x"
    is_first_rate = step.multiple == first.multiple
    least = LEAST_GOODPUT * (first.offered_rps if is_first_rate else first.goodput_rps)
    if step.goodput_rps < least:
        yield f"{name} goodput {number(step.goodput_rps)}/s < {number(least)}/s"
    if step.failed_rps > FAILING * step.arrived_rps:
        yield f"{name} {step.failed_rps / step.arrived_rps:.1%} neither accepted nor refused"
    if step.slowest_probe_s is None or step.slowest_probe_s > SLOWEST_PROBE_S:
        yield f"{name} a probe took {number(step.slowest_probe_s)} s"


def void(step: Step) -> Iterator[str]:
    """Yield why the figures of a step are the load generator's; nothing if they are sound."""
    name = f"at {step.multiple:g}x the load generator"
    if step.sent < LEAST_SENT:
        yield f"{name} sent only {step.sent:.1%} of its arrivals"
    if step.generator_late_ms > GENERATOR_LATE_MS:
        yield f"{name} itself was late by {number(step.generator_late_ms)} ms"

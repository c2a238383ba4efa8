"""What is shown of a side: figures per second, and the last two minutes of them."""

import json
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

KEPT = 120
"""Seconds of curves."""
COUNTS = ("offered", "accepted", "refused", "failed", "reads", "reads_failed")


@dataclass(frozen=True)
class Sample:
    """One second of a side. Rates are per second."""

    at: float
    totals: dict[str, int]
    rates: dict[str, float]
    why_failed: str
    """The commonest reason of the latest posts that failed, in words; empty if none did."""
    answer_ms: dict[str, float | None]
    lag_ms: dict[str, float | None]
    """Of the posts that got their receipt in the last ten seconds."""
    backlog: int | None
    """None: the service doesn't say."""
    oldest_s: float | None
    """Age of the oldest post of the backlog; None: the service doesn't say."""
    watched: list[float | None]
    """How old the watched post was when it was found in each feed."""
    settled: list[float | None]
    """The same of the last post of which nothing more is expected."""
    audit: dict[str, int]
    """Posts of the sample: found, missing, and pending, which aren't delivered yet."""


@dataclass
class History:
    """The samples of a run; empty until the load has begun."""

    samples: deque[Sample] = field(default_factory=lambda: deque(maxlen=KEPT))
    cores: dict[str, float] = field(default_factory=dict)
    """Busy cores by role."""
    faults_at: list[float] = field(default_factory=list)
    """Unix times when faults began."""

    @property
    def latest(self) -> Sample | None:
        return self.samples[-1] if self.samples else None

    def read(self, file: Path) -> None:
        """Take what the load has written since the last time, if it has."""
        if not file.exists():
            return
        told = json.loads(file.read_text())
        if self.latest is None or told["at"] > self.latest.at:
            self.samples.append(_sample(told, self.latest))


def _sample(told: dict[str, Any], before: Sample | None) -> Sample:
    totals = {name: told[name] for name in COUNTS}
    seconds = told["at"] - before.at if before else 1.0
    known = before.totals if before else dict.fromkeys(COUNTS, 0)
    status = told["status"] or {}
    backlog = status.get("backlog", {})
    return Sample(
        told["at"],
        totals,
        {name: (totals[name] - known[name]) / seconds for name in COUNTS},
        told["why_failed"] or (before.why_failed if before else ""),
        told["answer_ms"],
        status.get("lag_ms", {"p50": None, "p99": None}),
        backlog.get("posts"),
        (backlog["oldest_age_s"] or 0.0) if backlog else None,
        told["watched"],
        told["settled"],
        told["audit"],
    )

"""What the page and a side's load exchange as files: the rates, and figures per second."""

import json
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

KEPT = 120
"""Seconds of curves."""
COUNTS = ("offered", "accepted", "refused", "failed", "reads", "reads_failed")


class Rates(NamedTuple):
    """The load of a side, which it reads again and again while it runs."""

    posts_per_s: float = 20.0
    reads_per_post: float = 2.0

    @classmethod
    def read(cls, file: Path) -> "Rates":
        return cls(**json.loads(file.read_text()))

    def write(self, file: Path) -> None:
        write_json(file, self._asdict())


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
        figures = json.loads(file.read_text())
        if self.latest is None or figures["at"] > self.latest.at:
            self.samples.append(_sample(figures, self.latest))


def _sample(figures: dict[str, Any], before: Sample | None) -> Sample:
    totals = {name: figures[name] for name in COUNTS}
    seconds = figures["at"] - before.at if before else 1.0
    earlier = before.totals if before else dict.fromkeys(COUNTS, 0)
    status = figures["status"] or {}
    backlog = status.get("backlog", {})
    return Sample(
        figures["at"],
        totals,
        {name: (totals[name] - earlier[name]) / seconds for name in COUNTS},
        figures["why_failed"] or (before.why_failed if before else ""),
        figures["answer_ms"],
        status.get("lag_ms", {"p50": None, "p99": None}),
        backlog.get("posts"),
        (backlog["oldest_age_s"] or 0.0) if backlog else None,
        figures["watched"],
        figures["settled"],
        figures["audit"],
    )


def write_json(path: Path, content: object) -> None:
    """Replace a file so that a reader gets all of it, the old or the new."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps(content))
    new.replace(path)

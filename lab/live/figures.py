"""What the page and a side's load exchange as files: the rates, and figures per second."""

import json
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

RATES, FIGURES = "rates.json", "figures.json"
"""Names of the files, in the folder of a side's service."""
KEPT = 120
"""Seconds of curves."""


class Rates(NamedTuple):
    """The load of a side, which it reads again and again while it runs."""

    posts_per_s: float = 20.0
    reads_per_post: float = 2.0

    @classmethod
    def read(cls, folder: Path) -> "Rates":
        return cls(**json.loads((folder / RATES).read_text()))

    def write(self, folder: Path) -> None:
        _write_json(folder / RATES, self)


class Sample(NamedTuple):
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

    def write(self, folder: Path) -> None:
        _write_json(folder / FIGURES, self)


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

    def read(self, folder: Path) -> None:
        """Take what the load has written since the last time, if it has."""
        file = folder / FIGURES
        if not file.exists():
            return
        sample = Sample(**json.loads(file.read_text()))
        if self.latest is None or sample.at > self.latest.at:
            self.samples.append(sample)


def _write_json(path: Path, content: Rates | Sample) -> None:
    """Replace a file so that a reader gets all of it, the old or the new."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps(content._asdict()))
    new.replace(path)

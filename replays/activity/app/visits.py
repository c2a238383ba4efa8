"""Visits: computed from a person's logs, cut where a period begins and ends.

A visit is an entry and the exit that follows it directly. An entry followed by another entry is no
visit, since its length is unknown; neither is an exit after an exit. An entry without a later log
is an open visit.
"""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from replays.activity.app.models import Direction
from replays.activity.app.periods import Period


class Passage(NamedTuple):
    """The fields of a log that visits need."""

    at: int
    direction: str
    device: int


class Visit(NamedTuple):
    """A visit, or the part of it within a period."""

    entered_at: int
    left_at: int | None
    """None while it is open."""
    device: int
    """The device of the entry."""
    cut_at_start: bool = False
    """It began before the period, and ``entered_at`` is a virtual log at the period's start."""
    cut_at_end: bool = False
    """It continued beyond the period, and ``left_at`` is a virtual log at the period's end."""

    def seconds(self, now: int) -> int:
        return (now if self.left_at is None else self.left_at) - self.entered_at


def visits_within(period: Period, logs: Sequence[Passage], now: int) -> list[Visit]:
    """Return the parts of a person's visits within a period, in order.

    ``logs``: those of the period in order, with the log before if it begins a visit of the
    period, and the log after if it ends one; further logs change nothing.
    """
    return [
        _cut(entry, left_at, period, now)
        for entry, left_at in paired(logs)
        if entry.at < period.end
        and (entry.at >= period.start or (now if left_at is None else left_at) > period.start)
    ]


def seconds_within(period: Period, logs: Sequence[Passage], now: int) -> int:
    return sum(visit.seconds(now) for visit in visits_within(period, logs, now))


def paired(logs: Sequence[Passage]) -> Iterator[tuple[Passage, int | None]]:
    """Yield each entry that begins a visit, with the time of its exit."""
    for entry, following in zip_longest(logs, logs[1:]):
        if entry.direction != Direction.IN:
            continue
        if following is None:
            yield entry, None
        elif following.direction == Direction.OUT:
            yield entry, following.at


def _cut(entry: Passage, left_at: int | None, period: Period, now: int) -> Visit:
    cut_at_end = (now if left_at is None else left_at) > period.end
    return Visit(
        max(entry.at, period.start),
        period.end if cut_at_end else left_at,
        entry.device,
        entry.at < period.start,
        cut_at_end,
    )
